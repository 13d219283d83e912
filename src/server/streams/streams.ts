/**
 * Commands in containers, their terminals and ports: `/exec`, `/attach`, `/portForward` and `/run`. Authorization happens before; here
 * the container is found, a session is requested from the runtime, and the connection is passed on to it.
 */
import { allContainers } from '../../api/pod-traits.ts';
import { codeOf, describeError } from '../../base/errors.ts';
import { quoteText } from '../../base/go-text.ts';
import {
  type Answer,
  type Exchange,
  errorPage,
  jsonAnswer,
  notFound,
  PROXY_STREAM,
  type Route,
  textAnswer,
  type UpgradeExchange,
} from '../routes.ts';
import { passThrough } from './pass-through.ts';
import { parseCommand, parsePorts, parseStreams, runCommandOf, type StreamRequest } from './rules/stream-query.ts';
import { fullName, isMeant, type ServedPod, type ServedPods } from './served-pods.ts';

/** The runtime's side of it; addresses are those of its streaming server. */
export interface StreamingRuntime {
  exec(request: StreamRequest & { containerId: string; cmd: readonly string[] }, signal: AbortSignal): Promise<string>;
  attach(request: StreamRequest & { containerId: string }, signal: AbortSignal): Promise<string>;
  portForward(request: { podSandboxId: string; port: readonly number[] }, signal: AbortSignal): Promise<string>;
  execSync(
    request: { containerId: string; command: readonly string[]; timeoutSeconds: number },
    signal: AbortSignal,
  ): Promise<{ readonly stdout: Uint8Array; readonly stderr: Uint8Array; readonly exitCode: number }>;
}

export interface StreamDeps {
  readonly pods: ServedPods;
  readonly runtime: StreamingRuntime;
}

type Streamed = Exchange | UpgradeExchange;
/** The address of the session, or why there is none. */
type Session = { readonly kind: 'open'; readonly url: string } | { readonly kind: 'refused'; readonly answer: Answer };
type OpenSession = (exchange: Streamed) => Promise<Session>;

const CONTAINER = ['{namespace}/{pod}/{container}', '{namespace}/{pod}/{uid}/{container}'];
const POD = ['{namespace}/{pod}', '{namespace}/{pod}/{uid}'];
/** The runtime drops unused sessions after this time, so a retry then succeeds. */
const RETRY_AFTER_SECONDS = '60';

const refused = (answer: Answer): Session => ({ kind: 'refused', answer });
const opened = (url: string): Session => ({ kind: 'open', url });

export function createStreamRoutes(deps: StreamDeps): readonly Route[] {
  const upgrading = (name: string, patterns: readonly string[], open: OpenSession): readonly Route[] =>
    patterns.map((pattern) => ({
      name,
      longQuery: name === 'exec',
      methods: ['GET', 'POST'],
      pattern: `/${name}/${pattern}`,
      access: PROXY_STREAM,
      port: 'secure',
      switch: 'debugging',
      audited: true,
      handle: async (exchange) => {
        const session = await openSession(exchange, open);
        exchange.answer(session.kind === 'refused' ? session.answer : errorPage(400, 'Upgrade request required'));
      },
      upgrade: async (exchange) => {
        const session = await openSession(exchange, open);
        if (session.kind === 'refused') exchange.answer(session.answer);
        else await passThrough(exchange, session.url);
      },
    }));
  return [
    ...upgrading('exec', CONTAINER, (exchange) => openExec(deps, exchange)),
    ...upgrading('attach', CONTAINER, (exchange) => openAttach(deps, exchange)),
    ...upgrading('portForward', POD, (exchange) => openPortForward(deps, exchange)),
    ...CONTAINER.map(
      (pattern): Route => ({
        name: 'run',
        longQuery: true,
        methods: ['POST'],
        pattern: `/run/${pattern}`,
        access: PROXY_STREAM,
        port: 'secure',
        switch: 'debugging',
        audited: true,
        handle: async (exchange) => exchange.answer(await run(deps, exchange)),
      }),
    ),
  ];
}

/** A refusal of the runtime has the runtime's own text. */
async function openSession(exchange: Streamed, open: OpenSession): Promise<Session> {
  try {
    return await open(exchange);
  } catch (error) {
    const text = describeError(error);
    const code = codeOf(error);
    if (code === 'notFound') return refused(notFound(text));
    if (code !== 'exhausted') return refused(textAnswer(500, text));
    return refused({ ...textAnswer(429, text), headers: { 'Retry-After': RETRY_AFTER_SECONDS } });
  }
}

async function openExec({ pods, runtime }: StreamDeps, exchange: Streamed): Promise<Session> {
  const streams = parseStreams(exchange.query);
  if (!streams.ok) return refused(textAnswer(400, streams.problem));
  const command = parseCommand(exchange.query);
  if (!command.ok) return refused(textAnswer(400, command.problem));
  const found = findPod(pods, exchange);
  if (found === undefined) return refused(notFound('pod does not exist'));
  const name = exchange.parameters['container'] ?? '';
  const id = await pods.runningContainer(found.uid, name, exchange.signal);
  if (id === undefined) return refused(notFound(`container not found (${quoteText(name)})`));
  const request = { ...streams.value, containerId: id, cmd: command.value };
  return opened(await runtime.exec(request, exchange.signal));
}

async function openAttach({ pods, runtime }: StreamDeps, exchange: Streamed): Promise<Session> {
  const streams = parseStreams(exchange.query);
  if (!streams.ok) return refused(textAnswer(400, streams.problem));
  const found = findPod(pods, exchange);
  if (found === undefined) return refused(notFound('pod does not exist'));
  const name = exchange.parameters['container'] ?? '';
  const spec = allContainers(found.pod).find((container) => container.name === name);
  const id = spec && (await pods.runningContainer(found.uid, name, exchange.signal));
  if (id === undefined) return refused(notFound(`container ${name} not found in pod ${fullName(found)}`));
  // Whether there is a terminal was decided when the container was created.
  const request = { ...streams.value, containerId: id, tty: spec?.tty ?? false };
  return opened(await runtime.attach(request, exchange.signal));
}

async function openPortForward({ pods, runtime }: StreamDeps, exchange: Streamed): Promise<Session> {
  const ports = parsePorts(exchange.query, exchange.request.headers.upgrade?.toLowerCase() === 'websocket');
  if (!ports.ok) return refused(textAnswer(400, ports.problem));
  const found = findPod(pods, exchange);
  if (found === undefined) return refused(notFound('pod does not exist'));
  const sandbox = await pods.readySandbox(found.uid, exchange.signal);
  if (sandbox === undefined) return refused(notFound(`pod not found (${quoteText(fullName(found))})`));
  return opened(await runtime.portForward({ podSandboxId: sandbox, port: ports.value }, exchange.signal));
}

function findPod(pods: ServedPods, { parameters }: Streamed): ServedPod | undefined {
  const found = pods.find(parameters['namespace'] ?? '', parameters['pod'] ?? '');
  return found !== undefined && isMeant(found, parameters['uid']) ? found : undefined;
}

/** The output of the command; an exit code other than 0 is an error with its stderr. */
async function run({ pods, runtime }: StreamDeps, exchange: Exchange): Promise<Answer> {
  const found = findPod(pods, exchange);
  if (found === undefined) return notFound('pod does not exist');
  const name = exchange.parameters['container'] ?? '';
  const id = await pods.runningContainer(found.uid, name, exchange.signal);
  if (id === undefined) return notFound(`container not found (${quoteText(name)})`);
  const command = runCommandOf(exchange.query);
  try {
    const { stdout, stderr, exitCode } = await runtime.execSync(
      { containerId: id, command, timeoutSeconds: 0 },
      exchange.signal,
    );
    if (exitCode === 0) return { ...jsonAnswer(''), body: Buffer.concat([stdout, stderr]) };
    const errors = Buffer.from(stderr).toString();
    return textAnswer(500, `command '${command.join(' ')}' exited with ${exitCode}: ${errors}`);
  } catch (error) {
    return textAnswer(500, describeError(error));
  }
}
