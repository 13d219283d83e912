/** The containers of a pod together: names, host ports, and what each kind of container may have. */
import type { Container } from '../container.ts';
import type { Pod } from '../pod.ts';
import type { PodGates } from '../pod-gates.ts';
import { type ContainerContext, checkContainer } from './container.ts';
import type { Faults } from './faults.ts';
import { checkLifecycle, checkProbe, type HandlerContext } from './handlers.ts';

const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;
const MOST_RULES = 20;
const MOST_EXIT_CODES = 255;

export function checkContainers(pod: Pod, context: ContainerContext, gates: PodGates, faults: Faults): void {
  const { containers, initContainers = [], ephemeralContainers = [] } = pod.spec;
  const handlers: HandlerContext = { graceSeconds: pod.spec.terminationGracePeriodSeconds, os: pod.spec.os?.name };
  if (containers.length === 0) faults.required('spec.containers');
  containers.forEach((container, index) => {
    const path = `spec.containers[${index}]`;
    checkContainer(container, path, context, faults);
    checkHandlers(container, path, handlers, faults);
    checkRestart(container, path, 'regular', gates, faults);
  });
  initContainers.forEach((container, index) => {
    const path = `spec.initContainers[${index}]`;
    checkContainer(container, path, context, faults);
    checkInit(container, path, handlers, faults);
    checkRestart(container, path, 'init', gates, faults);
    // They run one after the other, so only the ports of each among themselves can clash.
    checkHostPorts([[container, path]], faults);
  });
  checkHostPorts(
    containers.map((container, index) => [container, `spec.containers[${index}]`]),
    faults,
  );
  if (ephemeralContainers.length > 0) faults.forbidden('spec.ephemeralContainers', 'cannot be set on create');
  checkNames(pod, faults);
  if (pod.spec.hostNetwork) checkHostNetworkPorts(containers, faults);
}

function checkNames({ spec }: Pod, faults: Faults): void {
  const places = [
    ...spec.containers.map(({ name }, index) => ({ name, path: `spec.containers[${index}].name` })),
    ...(spec.initContainers ?? []).map(({ name }, index) => ({ name, path: `spec.initContainers[${index}].name` })),
  ];
  faults.unique(
    places,
    ({ name }) => name,
    (index) => places[index]?.path ?? '',
  );
}

function checkHandlers(container: Container, path: string, context: HandlerContext, faults: Faults): void {
  if (container.lifecycle !== undefined) checkLifecycle(container.lifecycle, `${path}.lifecycle`, context, faults);
  for (const kind of PROBES) {
    const probe = container[kind];
    if (probe !== undefined) checkProbe(probe, { path: `${path}.${kind}`, kind }, context, faults);
  }
}

function checkInit(container: Container, path: string, context: HandlerContext, faults: Faults): void {
  if (container.restartPolicy === 'Always') {
    checkHandlers(container, path, context, faults);
    return;
  }
  for (const field of ['lifecycle', ...PROBES] as const) {
    if (container[field] === undefined) continue;
    faults.forbidden(`${path}.${field}`, 'may not be set for init containers without restartPolicy=Always');
  }
  (container.resizePolicy ?? []).forEach(({ restartPolicy }, index) => {
    if (restartPolicy !== 'RestartContainer') return;
    const detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
    faults.invalid(`${path}.resizePolicy[${index}].restartPolicy`, restartPolicy, detail);
  });
}

function checkRestart(
  container: Container,
  path: string,
  kind: 'regular' | 'init',
  gates: PodGates,
  faults: Faults,
): void {
  const { restartPolicy, restartPolicyRules = [] } = container;
  if (!gates.restartRules) {
    if (kind === 'regular' && restartPolicy !== undefined) {
      faults.forbidden(`${path}.restartPolicy`, 'may not be set for non-init containers');
    }
    if (kind === 'init' && restartPolicy !== undefined) {
      faults.oneOf(`${path}.restartPolicy`, restartPolicy, ['Always'], 'required');
    }
    return;
  }
  if (restartPolicy !== undefined) {
    faults.oneOf(`${path}.restartPolicy`, restartPolicy, ['Always', 'Never', 'OnFailure'], 'required');
  } else if (restartPolicyRules.length > 0) {
    faults.required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used');
  }
  const sidecarRules = kind === 'init' && restartPolicy === 'Always' && restartPolicyRules.length > 0;
  if (sidecarRules && !gates.restartAllContainers) {
    const detail = 'restartPolicyRules are not allowed for init containers with restart policy Always';
    faults.forbidden(`${path}.restartPolicyRules`, detail);
  } else checkRestartRules(container, `${path}.restartPolicyRules`, gates, faults);
}

function checkRestartRules(
  { restartPolicyRules = [] }: Container,
  path: string,
  gates: PodGates,
  faults: Faults,
): void {
  if (restartPolicyRules.length > MOST_RULES) faults.tooMany(path, restartPolicyRules.length, MOST_RULES);
  const actions = gates.restartAllContainers ? ['Restart', 'RestartAllContainers'] : ['Restart'];
  restartPolicyRules.forEach(({ action, exitCodes }, index) => {
    const at = `${path}[${index}]`;
    if (!actions.includes(action)) faults.unsupported(`${at}.action`, action ?? '', actions);
    if (exitCodes === undefined) {
      faults.required(`${at}.exitCodes`, 'must be specified');
      return;
    }
    const operators = ['In', 'NotIn'];
    if (!operators.includes(exitCodes.operator)) {
      faults.unsupported(`${at}.exitCodes.operator`, exitCodes.operator ?? '', operators);
    }
    const count = exitCodes.values?.length ?? 0;
    if (count > MOST_EXIT_CODES) faults.tooMany(`${at}.exitCodes.values`, count, MOST_EXIT_CODES);
  });
}

function checkHostPorts(containers: readonly (readonly [Container, string])[], faults: Faults): void {
  const seen = new Set<string>();
  for (const [container, path] of containers) {
    (container.ports ?? []).forEach(({ protocol, hostIP, hostPort }, index) => {
      if (!hostPort) return;
      const key = `${protocol ?? ''}/${hostIP ?? ''}/${hostPort}`;
      if (seen.has(key)) faults.duplicate(`${path}.ports[${index}].hostPort`, key);
      seen.add(key);
    });
  }
}

function checkHostNetworkPorts(containers: readonly Container[], faults: Faults): void {
  containers.forEach(({ ports = [] }, index) => {
    ports.forEach(({ hostPort = 0, containerPort }, at) => {
      if (hostPort === (containerPort ?? 0)) return;
      const path = `spec.containers[${index}].ports[${at}].hostPort`;
      faults.invalid(path, hostPort, 'must match `containerPort` when `hostNetwork` is true');
    });
  });
}
