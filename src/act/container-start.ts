/** Starts one container: image, request, create, start, postStart hook. */
import type { Container } from '../api/container.ts';
import type { PodUid } from '../api/ids.ts';
import { type ContainerId, containerId, type SandboxId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { linkSignal } from '../base/signal.ts';
import type { ImageWait, ReadyImage } from '../model/image.ts';
import type { MountedVolumes } from '../model/mounted-volume.ts';
import type { StartOutcome } from '../model/outcome.ts';
import { isInterruption } from '../model/runtime-failure.ts';
import type { ContainerRequest } from '../model/runtime-request.ts';
import type { ReportStep, StepFailure, StepSubject } from '../model/step.ts';
import type { PodSandboxConfig } from '../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../wire/message.ts';
import type { PodDirectories } from './pod-directories.ts';
import type { HooksPort, ImagesPort, InForcePort, LogsPort, RequestsPort, RuntimePort, Turn } from './ports.ts';
import { runtimeMessage } from './runtime-message.ts';

const PRESENT_WITHIN_MS = 50;

export interface ContainerStartDeps {
  readonly clock: Clock;
  readonly runtime: { readonly containers: Pick<RuntimePort['containers'], 'create' | 'start'> };
  readonly requests: RequestsPort;
  readonly images: ImagesPort;
  readonly hooks: HooksPort;
  readonly directories: PodDirectories;
  readonly logs: Pick<LogsPort, 'ensureContainer' | 'link'>;
  readonly inForce: Pick<InForcePort, 'starting'>;
}

export interface ContainerStart {
  readonly pod: Pod;
  readonly container: Container;
  readonly attempt: number;
  readonly sandbox: { readonly id: SandboxId; readonly attempt: number; readonly ips: readonly string[] };
  readonly volumes: MountedVolumes;
  readonly targetId: ContainerId | undefined;
  readonly turn: Turn;
  readonly report: ReportStep;
  /** Aborts when the pod must end: cancels a pull and a hook. */
  readonly wanted: AbortSignal;
  /** Aborts when the kubelet stops: calls that create or start something finish otherwise. */
  readonly signal: AbortSignal;
}

export async function startContainer(deps: ContainerStartDeps, start: ContainerStart): Promise<StartOutcome> {
  const images = await ensureImages(deps, start);
  if (images.kind === 'waiting') return images;
  const requests = await makeRequests(deps, start, images);
  if (requests.kind === 'waiting') return requests;
  const made = await createContainer(deps, start, requests);
  return made.kind === 'made' ? await runPostStart(deps, start, made.id) : made;
}

async function runPostStart(
  { hooks }: ContainerStartDeps,
  { pod, container, sandbox, turn, report, wanted }: ContainerStart,
  id: ContainerId,
): Promise<StartOutcome> {
  const handler = container.lifecycle?.postStart;
  if (handler === undefined) return { kind: 'started', id };
  const subject = { kind: 'hook', hook: 'postStart', container: container.name } as const;
  turn.release();
  report({ kind: 'begun', subject });
  const hook = { kind: 'postStart', handler, pod, container, containerId: id, podIps: sandbox.ips } as const;
  const problem = await hooks.run(hook, wanted);
  if (problem === undefined) {
    report({ kind: 'done', subject });
    return { kind: 'started', id };
  }
  report({ kind: 'failed', subject, failure: { reason: 'PostStartHookError', message: problem } });
  return { kind: 'hook-failed', id, message: problem };
}

interface ReadyImages {
  readonly kind: 'ready';
  readonly image: ReadyImage;
  readonly volumes: ReadonlyMap<string, string>;
}

/** Images that are present are found in a moment; while one is pulled, other pods get the turn. */
async function ensureImages(deps: ContainerStartDeps, start: ContainerStart): Promise<ReadyImages | ImageWait> {
  using soon = linkSignal(start.wanted);
  const wait = () => {
    start.turn.release();
    start.turn.pause?.();
  };
  deps.clock.sleep(PRESENT_WITHIN_MS, soon.signal).then(wait, () => undefined);
  const { container, attempt, report } = start;
  const subject = { kind: 'image', container: container.name, image: container.image ?? '', attempt } as const;
  report({ kind: 'begun', subject });
  try {
    const found = await findImages(deps, start);
    if (found.kind === 'ready') report({ kind: 'done', subject });
    else report({ kind: 'failed', subject, failure: { reason: found.reason, message: found.message } });
    return found;
  } finally {
    soon.abort('the images are present');
  }
}

async function findImages({ images }: ContainerStartDeps, start: ContainerStart): Promise<ReadyImages | ImageWait> {
  const { pod, container, wanted: signal } = start;
  const volumes = new Map<string, string>();
  const mounted = new Set((container.volumeMounts ?? []).map(({ name }) => name));
  for (const { name, image } of pod.spec.volumes ?? []) {
    if (image === undefined || !mounted.has(name)) continue;
    const policy = policyOf(image.pullPolicy);
    const found = await images.ensureVolume({ pod, image: image.reference ?? '', policy, signal });
    if (found.kind === 'waiting') return found;
    volumes.set(name, found.imageRef);
  }
  const image = await images.ensure({ pod, container, signal });
  return image.kind === 'waiting' ? image : { kind: 'ready', image, volumes };
}

function policyOf(policy: string | undefined): 'Always' | 'IfNotPresent' | 'Never' {
  return policy === 'Always' || policy === 'Never' ? policy : 'IfNotPresent';
}

type Creation =
  | { readonly kind: 'made'; readonly id: ContainerId }
  | Exclude<StartOutcome, { kind: 'hook-failed' | 'started' }>;

async function createContainer(
  deps: ContainerStartDeps,
  start: ContainerStart,
  { config, sandboxConfig }: ReadyRequests,
): Promise<Creation> {
  const { pod, container, attempt, sandbox, signal } = start;
  await start.turn.hold();
  start.wanted.throwIfAborted();
  // Before it exists: a kubelet that finds it must not take it for one that still has to be resized.
  await deps.inForce.starting(pod, container);
  const id = await attemptTo(start, subjectOf(start, 'container-create'), 'CreateContainerError', async () =>
    containerId(await deps.runtime.containers.create({ podSandboxId: sandbox.id, config, sandboxConfig }, signal)),
  );
  if (id.kind === 'waiting') return id;
  start.wanted.throwIfAborted();
  const started = await attemptTo(start, subjectOf(start, 'container-start'), 'RunContainerError', () =>
    deps.runtime.containers.start(id.value, signal),
  );
  if (started.kind === 'waiting') return { ...started, kind: 'not-run' };
  await deps.logs.link(pod, container.name, id.value, attempt);
  return { kind: 'made', id: id.value };
}

interface ReadyRequests {
  readonly kind: 'ready';
  readonly config: Extract<Awaited<ReturnType<RequestsPort['container']>>, { kind: 'ready' }>['config'];
  readonly sandboxConfig: Init<PodSandboxConfig>;
}

type Requests = ReadyRequests | Extract<ContainerRequest, { kind: 'problem' }>;

const CONFIG_ERROR = 'CreateContainerConfigError';

async function makeRequests(
  deps: ContainerStartDeps,
  start: ContainerStart,
  images: ReadyImages,
): Promise<ReadyRequests | Waiting> {
  const subject = subjectOf(start, 'container-config');
  start.report({ kind: 'begun', subject });
  const requests = await gatherRequests(deps, start, images);
  if (requests.kind === 'problem') return fail(start, subject, requests);
  start.report({ kind: 'done', subject });
  return requests;
}

async function gatherRequests(deps: ContainerStartDeps, start: ContainerStart, images: ReadyImages): Promise<Requests> {
  const { pod, container, attempt, sandbox, volumes, targetId, wanted } = start;
  const uid = pod.metadata.uid as PodUid;
  const sandboxRequest = await deps.requests.sandbox(pod, sandbox.attempt, wanted);
  if (sandboxRequest.kind === 'problem') return { ...sandboxRequest, reason: 'CreateContainerError' };
  try {
    const hosts = await deps.requests.hostsFile(pod, sandbox.ips);
    if (!hosts.ok) return { kind: 'problem', reason: CONFIG_ERROR, message: hosts.problem };
    const hasTerminationLog = (container.terminationMessagePath ?? '') !== '';
    const [terminationLog] = await Promise.all([
      hasTerminationLog ? deps.directories.planTerminationLog(uid, container.name) : undefined,
      deps.directories.writeHosts(uid, hosts.value),
    ]);
    const input = {
      pod,
      container,
      attempt,
      image: images.image,
      podIps: sandbox.ips,
      podDirectory: deps.directories.of(uid),
      volumes,
      imageVolumes: images.volumes,
      terminationLog,
      targetId,
    };
    const request = await deps.requests.container(input, wanted);
    if (request.kind === 'problem') return request;
    // Only now, so that a container whose request fails again and again leaves no files.
    await Promise.all([
      terminationLog === undefined ? undefined : deps.directories.createTerminationLog(terminationLog),
      deps.logs.ensureContainer(pod, container.name),
    ]);
    return { ...request, sandboxConfig: sandboxRequest.config };
  } catch (error) {
    if (wanted.aborted) throw error;
    return { kind: 'problem', reason: CONFIG_ERROR, message: describeError(error) };
  }
}

type Waiting = Extract<StartOutcome, { kind: 'waiting' }>;

async function attemptTo<T>(
  start: ContainerStart,
  subject: StepSubject,
  reason: string,
  call: () => Promise<T>,
): Promise<{ readonly kind: 'done'; readonly value: T } | Waiting> {
  const { report, signal } = start;
  report({ kind: 'begun', subject });
  try {
    const value = await call();
    report({ kind: 'done', subject });
    return { kind: 'done', value };
  } catch (error) {
    if (isInterruption(error, signal)) throw error;
    return fail(start, subject, { reason, message: runtimeMessage(error) });
  }
}

function fail({ report }: ContainerStart, subject: StepSubject, { reason, message, actor }: StepFailure): Waiting {
  report({ kind: 'failed', subject, failure: { reason, message, ...(actor !== undefined && { actor }) } });
  return { kind: 'waiting', reason, message, retryAt: undefined };
}

function subjectOf(
  { container, attempt }: ContainerStart,
  kind: 'container-config' | 'container-create' | 'container-start',
): StepSubject {
  return { kind, container: container.name, attempt };
}
