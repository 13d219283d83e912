/** Probes and hooks: what they call, and how often. */
import type { IntOrString, Lifecycle, LifecycleHandler, Probe } from '../container.ts';
import type { Faults } from './faults.ts';
import { headerName, portName } from './text-rules.ts';

const HIGHEST_PORT = 65_535;
const WINDOWS_SIGNALS = ['SIGKILL', 'SIGTERM'];
const LINUX_SIGNALS = [
  ...'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS'.split(' '),
  ...'TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN RTMAX'.split(' '),
  ...Array.from({ length: 15 }, (_, index) => `RTMIN+${index + 1}`),
  ...Array.from({ length: 14 }, (_, index) => `RTMAX-${index + 1}`),
].map((name) => `SIG${name}`);

export interface HandlerContext {
  readonly graceSeconds: number | undefined;
  readonly os: string | undefined;
}

export function checkLifecycle(lifecycle: Lifecycle, path: string, context: HandlerContext, faults: Faults): void {
  const { postStart, preStop, stopSignal } = lifecycle;
  if (postStart !== undefined) checkHandler(postStart, `${path}.postStart`, context, faults);
  if (preStop !== undefined) checkHandler(preStop, `${path}.preStop`, context, faults);
  if (stopSignal === undefined) return;
  if (context.os === undefined) {
    faults.forbidden(`${path}.stopSignal`, 'may not be set for containers with empty `spec.os.name`');
  } else {
    const supported = context.os === 'windows' ? WINDOWS_SIGNALS : LINUX_SIGNALS;
    if (!supported.includes(stopSignal)) faults.unsupported(`${path}.stopSignal`, stopSignal, supported);
  }
}

export type ProbeKind = 'livenessProbe' | 'readinessProbe' | 'startupProbe';

export function checkProbe(
  probe: Probe,
  at: { readonly path: string; readonly kind: ProbeKind },
  context: HandlerContext,
  faults: Faults,
): void {
  const { path } = at;
  checkHandler(probe, path, context, faults);
  faults.notNegative(`${path}.initialDelaySeconds`, probe.initialDelaySeconds);
  faults.notNegative(`${path}.timeoutSeconds`, probe.timeoutSeconds);
  faults.notNegative(`${path}.periodSeconds`, probe.periodSeconds);
  faults.notNegative(`${path}.successThreshold`, probe.successThreshold);
  faults.notNegative(`${path}.failureThreshold`, probe.failureThreshold);
  const grace = probe.terminationGracePeriodSeconds;
  if (grace !== undefined && grace <= 0) {
    faults.invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0');
  }
  if (at.kind === 'readinessProbe') {
    if (grace !== undefined) {
      faults.invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes');
    }
  } else if (probe.successThreshold !== 1) {
    faults.invalid(`${path}.successThreshold`, probe.successThreshold ?? 0, 'must be 1');
  }
}

type Handler = Pick<LifecycleHandler, 'exec' | 'httpGet' | 'tcpSocket' | 'sleep'> & Pick<Probe, 'grpc'>;

/** Exactly one way to call. The first is looked into, the others are too many. */
function checkHandler(handler: Handler, path: string, context: HandlerContext, faults: Faults): void {
  const kinds = (['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const).filter(
    (kind) => handler[kind] !== undefined,
  );
  const [first, ...others] = kinds;
  if (first === undefined) faults.required(path, 'must specify a handler type');
  else checkAction(handler, first, path, context, faults);
  for (const kind of others) faults.forbidden(`${path}.${kind}`, 'may not specify more than 1 handler type');
}

function checkAction(
  handler: Handler,
  kind: keyof Handler,
  parent: string,
  context: HandlerContext,
  faults: Faults,
): void {
  const path = `${parent}.${kind}`;
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  if (kind === 'exec' && !exec?.command?.length) faults.required(`${path}.command`);
  if (kind === 'tcpSocket') checkPort(tcpSocket?.port, `${path}.port`, faults);
  if (kind === 'grpc') checkPort(grpc?.port, `${path}.port`, faults);
  if (kind === 'httpGet' && httpGet !== undefined) {
    if (!httpGet.path) faults.required(`${path}.path`);
    checkPort(httpGet.port, `${path}.port`, faults);
    faults.oneOf(`${path}.scheme`, httpGet.scheme, ['HTTP', 'HTTPS'], 'required');
    (httpGet.httpHeaders ?? []).forEach((header, index) => {
      faults.text(`${path}.httpHeaders[${index}].name`, header.name ?? '', headerName);
    });
  }
  if (kind === 'sleep') checkSleep(sleep?.seconds ?? 0, path, context.graceSeconds, faults);
}

function checkSleep(seconds: number, path: string, grace: number | undefined, faults: Faults): void {
  if (grace === undefined || (seconds >= 0 && seconds <= grace)) return;
  const detail = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
  faults.invalid(path, seconds, detail);
}

function checkPort(port: IntOrString | undefined, path: string, faults: Faults): void {
  if (typeof port === 'string') faults.text(path, port, portName);
  else checkPortNumber(port ?? 0, path, faults);
}

export function checkPortNumber(port: number, path: string, faults: Faults): void {
  faults.range(path, port, 1, HIGHEST_PORT);
}
