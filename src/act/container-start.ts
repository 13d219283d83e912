/** Brings one container up: image, request, create, start, postStart hook. */

import type { Container } from '../api/container.ts';
import type { PodUid } from '../api/ids.ts';
import { type ContainerId, containerId, type SandboxId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { linkSignal } from '../base/signal.ts';
import type { RecordPodEvent } from '../model/event.ts';
import type { ImageWait, ReadyImage } from '../model/image.ts';
import type { MountedVolumes } from '../model/mounted-volume.ts';
import { isInterruption } from '../model/runtime-failure.ts';
import { fieldPathOf } from '../plan/roles.ts';
import type { PodSandboxConfig } from '../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../wire/message.ts';
import type { PodDirectories } from './pod-directories.ts';
import type { HooksPort, ImagesPort, LogsPort, RequestsPort, RuntimePort, Turn } from './ports.ts';
import { runtimeMessage } from './runtime-message.ts';

const PRESENT_WITHIN_MS = 50;

export interface ContainerStartDeps {
  readonly clock: Clock;
  readonly runtime: { readonly containers: Pick<RuntimePort['containers'], 'create' | 'start'> };
  readonly requests: RequestsPort;
  readonly images: ImagesPort;
  readonly hooks: HooksPort;
  readonly directories: PodDirectories;
  readonly logs: LogsPort;
  readonly record: RecordPodEvent;
}

export interface ContainerStart {
  readonly pod: Pod;
  readonly container: Container;
  readonly attempt: number;
  readonly sandbox: { readonly id: SandboxId; readonly attempt: number; readonly ips: readonly string[] };
  readonly volumes: MountedVolumes;
  readonly targetId: ContainerId | undefined;
  readonly turn: Turn;
  /** Aborts when the pod must go: ends a pull and a hook. */
  readonly wanted: AbortSignal;
  /** Aborts when the kubelet stops: calls that make or start something are let finish otherwise. */
  readonly signal: AbortSignal;
}

export type StartOutcome =
  | { readonly kind: 'started'; readonly id: ContainerId }
  | {
      readonly kind: 'waiting';
      readonly reason: string;
      readonly message: string;
      readonly retryAt: number | undefined;
    }
  /** It was made and did not run: what ended can be seen, and counts as a crash. */
  | { readonly kind: 'not-run'; readonly reason: string; readonly message: string }
  | { readonly kind: 'hook-failed'; readonly id: ContainerId; readonly message: string };

export async function startContainer(deps: ContainerStartDeps, start: ContainerStart): Promise<StartOutcome> {
  const { pod, container, wanted } = start;
  const images = await ensureImages(deps, start);
  if (images.kind === 'waiting') {
    tell(deps, start, 'Warning', 'Failed', `Error: ${images.reason}`);
    return images;
  }
  const made = await createContainer(deps, start, images);
  if (made.kind !== 'made') return made;
  const { id } = made;
  const handler = container.lifecycle?.postStart;
  if (handler === undefined) return { kind: 'started', id };
  const { ips: podIps } = start.sandbox;
  start.turn.release();
  const problem = await deps.hooks.run({ kind: 'postStart', handler, pod, container, containerId: id, podIps }, wanted);
  if (problem === undefined) return { kind: 'started', id };
  tell(deps, start, 'Warning', 'FailedPostStartHook', 'PostStartHook failed');
  return { kind: 'hook-failed', id, message: problem };
}

interface ReadyImages {
  readonly kind: 'ready';
  readonly image: ReadyImage;
  readonly volumes: ReadonlyMap<string, string>;
}

/** Images that are there are found in a moment; no one else has to wait while one is pulled. */
async function ensureImages(deps: ContainerStartDeps, start: ContainerStart): Promise<ReadyImages | ImageWait> {
  using soon = linkSignal(start.wanted);
  const wait = () => {
    start.turn.release();
    start.turn.lull?.();
  };
  deps.clock.sleep(PRESENT_WITHIN_MS, soon.signal).then(wait, () => undefined);
  try {
    return await findImages(deps, start);
  } finally {
    soon.abort('the images are there');
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
  images: ReadyImages,
): Promise<Creation> {
  const { pod, container, attempt, sandbox, signal } = start;
  const requests = await makeRequests(deps, start, images);
  if (requests.kind === 'problem') return fail(deps, start, requests.reason, requests.message);
  await start.turn.hold();
  start.wanted.throwIfAborted();
  const id = await attemptTo(async () => {
    const { config, sandboxConfig } = requests;
    return containerId(
      await deps.runtime.containers.create({ podSandboxId: sandbox.id, config, sandboxConfig }, signal),
    );
  }, signal);
  if (id.kind === 'failed') return fail(deps, start, 'CreateContainerError', id.message);
  tell(deps, start, 'Normal', 'Created', 'Container created');
  start.wanted.throwIfAborted();
  const started = await attemptTo(() => deps.runtime.containers.start(id.value, signal), signal);
  if (started.kind === 'failed') {
    return { ...fail(deps, start, 'RunContainerError', started.message), kind: 'not-run' };
  }
  tell(deps, start, 'Normal', 'Started', 'Container started');
  await deps.logs.link(pod, container.name, id.value, attempt);
  return { kind: 'made', id: id.value };
}

type Requests =
  | {
      readonly kind: 'ready';
      readonly config: Extract<Awaited<ReturnType<RequestsPort['container']>>, { kind: 'ready' }>['config'];
      readonly sandboxConfig: Init<PodSandboxConfig>;
    }
  | { readonly kind: 'problem'; readonly reason: string; readonly message: string };

const CONFIG_ERROR = 'CreateContainerConfigError';

async function makeRequests(deps: ContainerStartDeps, start: ContainerStart, images: ReadyImages): Promise<Requests> {
  const { pod, container, attempt, sandbox, volumes, targetId, wanted } = start;
  const uid = pod.metadata.uid as PodUid;
  const sandboxRequest = await deps.requests.sandbox(pod, sandbox.attempt, wanted);
  if (sandboxRequest.kind === 'problem') return { ...sandboxRequest, reason: 'CreateContainerError' };
  try {
    const hosts = await deps.requests.hostsFile(pod, sandbox.ips);
    if (!hosts.ok) return { kind: 'problem', reason: CONFIG_ERROR, message: hosts.problem };
    const wantsLastWords = (container.terminationMessagePath ?? '') !== '';
    const [terminationLog] = await Promise.all([
      wantsLastWords ? deps.directories.planTerminationLog(uid, container.name) : undefined,
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
    // Only now, so that a container that is refused again and again leaves nothing behind each time.
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

async function attemptTo<T>(
  call: () => Promise<T>,
  signal: AbortSignal,
): Promise<{ readonly kind: 'done'; readonly value: T } | { readonly kind: 'failed'; readonly message: string }> {
  try {
    return { kind: 'done', value: await call() };
  } catch (error) {
    if (isInterruption(error, signal)) throw error;
    return { kind: 'failed', message: runtimeMessage(error) };
  }
}

function fail(deps: ContainerStartDeps, start: ContainerStart, reason: string, message: string) {
  tell(deps, start, 'Warning', 'Failed', `Error: ${message}`);
  return { kind: 'waiting', reason, message, retryAt: undefined } as const;
}

function tell(
  { record }: ContainerStartDeps,
  { pod, container }: ContainerStart,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
): void {
  record({ pod: pod.metadata, container: fieldPathOf(pod, container.name), type, reason, message });
}
