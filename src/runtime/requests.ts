/** Gathers what requests to the runtime are made from (names, addresses, images, objects), and makes them by the rules of `spec/`. */

import type { Container } from '../api/container.ts';
import { ownIps } from '../api/host-network.ts';
import { type PodUid, podUid } from '../api/ids.ts';
import type { ResourceList } from '../api/meta.ts';
import { type Parsed, parsed, unparsable } from '../api/parsed.ts';
import type { Pod } from '../api/pod.ts';
import type { QosClass } from '../api/pod-status.ts';
import type { ContainerAssignment } from '../model/assignment.ts';
import type { ContainerRequest, ContainerRequestInput, SandboxRequest } from '../model/runtime-request.ts';
import type { DNSConfig, ImageSpec, LinuxContainerResources, UserNamespace } from '../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../wire/message.ts';
import { type EnvironmentSources, readEnvironment } from './request-inputs.ts';
import { type DeviceExtras, makeContainerConfig } from './spec/container.ts';
import { makeEnvironment } from './spec/environment.ts';
import { type RequestedSubPath, subPathsOf } from './spec/mounts.ts';
import { hostUserNamespace, ownUserNamespace, userNamespaceNeed } from './spec/namespaces.ts';
import { containerResources, overheadResources, sandboxResources } from './spec/resources.ts';
import { makeSandboxConfig } from './spec/sandbox.ts';
import type { Gates, ResourceSettings, SecuritySettings } from './spec/settings.ts';
import { imageUserOf } from './spec/user.ts';

export interface RequestsDeps extends EnvironmentSources {
  readonly network: {
    hostnameOf(pod: Pod): Parsed<{ readonly kernelName: string }>;
    dnsOf(pod: Pod): Promise<
      Parsed<{
        readonly config: Init<DNSConfig>;
        readonly warnings: readonly { readonly reason: string; readonly message: string }[];
      }>
    >;
  };
  readonly cgroupParent: (pod: Pod) => string;
  readonly qosClass: (pod: Pod) => QosClass;
  readonly nodeIps: () => readonly string[];
  readonly nodeAllocatable: () => ResourceList;
  readonly handlerFeatures: (handler: string) => {
    readonly recursiveReadOnly: boolean;
    readonly userNamespaces: boolean;
  };
  /** The ids of a pod with users of its own. */
  readonly idRange: (uid: PodUid) => Promise<Parsed<{ readonly hostId: number; readonly length: number }>>;
  /** Mounts parts of volumes at places of their own, by index in `volumeMounts`. */
  readonly prepareSubPaths: (
    request: { readonly uid: PodUid; readonly container: string; readonly subPaths: readonly PlacedSubPath[] },
    signal: AbortSignal,
  ) => Promise<Parsed<ReadonlyMap<number, string>>>;
  /** The devices, CPUs and memory that were assigned to the container; rejects where it can't be created now. */
  readonly assigned?: (pod: Pod, container: Container, signal: AbortSignal) => Promise<ContainerAssignment>;
  /** Whether the container, or any container of the pod, has CPUs of its own. */
  readonly hasExclusiveCpus?: (pod: Pod, container?: Container) => boolean;
}

/** A container that no one has assigned anything to. */
const NOTHING_ASSIGNED: ContainerAssignment = {};

interface PlacedSubPath extends RequestedSubPath {
  readonly volumePath: string;
}

export interface RequestsConfig {
  readonly podLogsDirectory: string;
  readonly settings: ResourceSettings & SecuritySettings;
  readonly gates: Gates;
  /** Of the API server's own service, which every pod gets variables of. */
  readonly masterServiceNamespace?: string;
}

type Problem = { readonly kind: 'problem'; readonly reason: string; readonly message: string };

export interface Requests {
  sandbox(pod: Pod, attempt: number, signal: AbortSignal): Promise<SandboxRequest>;
  container(input: ContainerRequestInput, signal: AbortSignal): Promise<ContainerRequest>;
  /** What a container that runs is limited to: the same as in the request that creates it. */
  containerResources(pod: Pod, container: Container): Init<LinuxContainerResources>;
  sandboxResources(pod: Pod): {
    readonly overhead: Init<LinuxContainerResources>;
    readonly resources: Init<LinuxContainerResources>;
  };
}

export function createRequests(deps: RequestsDeps, config: RequestsConfig): Requests {
  return {
    sandbox: (pod, attempt, signal) => makeSandbox(deps, config, { pod, attempt }, signal),
    container: (input, signal) => makeContainer(deps, config, input, signal),
    containerResources: (pod, container) =>
      containerResources({
        // Where it may run is not changed by a resize.
        ...{ pod, container, pinning: { cpus: '', mems: '' } },
        exclusiveCpus: deps.hasExclusiveCpus?.(pod, container) ?? false,
        ...{ qosClass: deps.qosClass(pod), nodeAllocatable: deps.nodeAllocatable() },
        ...config,
      }),
    sandboxResources: (pod) => ({
      overhead: overheadResources(pod, config.settings, config.gates),
      resources: sandboxResources({ pod, exclusiveCpus: deps.hasExclusiveCpus?.(pod) ?? false, ...config }),
    }),
  };
}

async function makeSandbox(
  deps: RequestsDeps,
  { gates, settings, podLogsDirectory }: RequestsConfig,
  { pod, attempt }: { readonly pod: Pod; readonly attempt: number },
  signal: AbortSignal,
): Promise<SandboxRequest> {
  const handler = await handlerOf(deps, pod, signal);
  if (!handler.ok) return { kind: 'problem', message: handler.problem };
  const hostname = deps.network.hostnameOf(pod);
  if (!hostname.ok) return { kind: 'problem', message: hostname.problem };
  const dns = await deps.network.dnsOf(pod);
  if (!dns.ok) return { kind: 'problem', message: dns.problem };
  const namespace = await userNamespaceOf(deps, gates, pod, handler.value);
  if (!namespace.ok) return { kind: 'problem', message: namespace.problem };
  const made = makeSandboxConfig({
    pod,
    attempt,
    hostname: hostname.value.kernelName,
    dns: dns.value.config,
    podLogsDirectory,
    cgroupParent: deps.cgroupParent(pod),
    userNamespace: namespace.value,
    extraGroups: [],
    exclusiveCpus: deps.hasExclusiveCpus?.(pod) ?? false,
    settings,
    gates,
  });
  if (made.kind === 'problem') return made;
  return { ...made, runtimeHandler: handler.value, warnings: dns.value.warnings };
}

async function makeContainer(
  deps: RequestsDeps,
  { gates, settings, masterServiceNamespace: masterNamespace }: RequestsConfig,
  input: ContainerRequestInput,
  signal: AbortSignal,
): Promise<ContainerRequest> {
  const { pod, image } = input;
  const nodeAllocatable = deps.nodeAllocatable();
  const nodeIps = deps.nodeIps();
  const assigned = (await deps.assigned?.(pod, input.container, signal)) ?? NOTHING_ASSIGNED;
  const { unread, ...read } = await readEnvironment(deps, input, signal);
  const env = makeEnvironment({
    pod,
    container: input.container,
    podIps: ownIps(pod, input.podIps, nodeIps),
    hostIps: nodeIps,
    nodeAllocatable,
    ...read,
    extra: assigned.env ?? [],
    gates,
    masterNamespace,
  });
  if (env.kind === 'problem') return unread ? { ...env, actor: 'api-server' } : env;
  const subPaths = subPathsOf(pod, input.container, env.env);
  if (!subPaths.ok) return problem(subPaths.problem);
  const places = await prepareSubPaths(deps, input, subPaths.value, signal);
  if (!places.ok) return problem(places.problem);
  const handler = await handlerOf(deps, pod, signal);
  const runtimeHandler = handler.ok ? handler.value : '';
  const userNamespace = await userNamespaceOf(deps, gates, pod, runtimeHandler);
  if (!userNamespace.ok) return problem(userNamespace.problem);
  return makeContainerConfig({
    ...input,
    imageRef: image.imageRef,
    imageUser: imageUserOf(image.user),
    qosClass: deps.qosClass(pod),
    env: env.env,
    imageVolumes: imageSpecs(input),
    subPaths: places.value,
    blockDevices: new Map(),
    userNamespace: userNamespace.value,
    extraGroups: [],
    exclusiveCpus: assigned.exclusiveCpus ?? false,
    pinning: { cpus: assigned.cpus ?? '', mems: assigned.mems ?? '' },
    nodeAllocatable,
    handlerRecursiveReadOnly: deps.handlerFeatures(runtimeHandler).recursiveReadOnly,
    extras: extrasOf(assigned),
    settings,
    gates,
  });
}

function extrasOf({ mounts = [], devices = [], cdiDevices = [], annotations = {} }: ContainerAssignment): DeviceExtras {
  return { mounts, devices, cdiDevices, annotations };
}

function handlerOf({ objects }: RequestsDeps, pod: Pod, signal: AbortSignal): Promise<Parsed<string>> {
  const name = pod.spec.runtimeClassName ?? '';
  return name === '' ? Promise.resolve(parsed('')) : objects.runtimeHandler(name, signal);
}

async function userNamespaceOf(
  deps: Pick<RequestsDeps, 'handlerFeatures' | 'idRange'>,
  gates: Gates,
  pod: Pod,
  runtimeHandler: string,
): Promise<Parsed<Init<UserNamespace> | undefined>> {
  const need = userNamespaceNeed({
    pod,
    enabled: gates('UserNamespacesSupport'),
    runtimeHandler,
    handlerSupports: deps.handlerFeatures(runtimeHandler).userNamespaces,
  });
  if (need.kind === 'problem') return unparsable(need.message);
  if (need.kind !== 'own') return parsed(need.kind === 'host' ? hostUserNamespace() : undefined);
  const range = await deps.idRange(podUid(pod.metadata.uid));
  return range.ok ? parsed(ownUserNamespace(range.value)) : range;
}

/** A missing volume is reported when the mounts are made. */
async function prepareSubPaths(
  deps: RequestsDeps,
  { pod, container, volumes }: ContainerRequestInput,
  requested: readonly RequestedSubPath[],
  signal: AbortSignal,
): Promise<Parsed<ReadonlyMap<number, string>>> {
  const subPaths = requested.flatMap((request) => {
    const volumePath = volumes.get(request.volumeName)?.hostPath;
    return volumePath === undefined ? [] : [{ ...request, volumePath }];
  });
  if (subPaths.length === 0) return parsed(new Map());
  return await deps.prepareSubPaths({ uid: podUid(pod.metadata.uid), container: container.name, subPaths }, signal);
}

function problem(message: string): Problem {
  return { kind: 'problem', reason: 'CreateContainerConfigError', message };
}

function imageSpecs({ pod, imageVolumes }: ContainerRequestInput): ReadonlyMap<string, Init<ImageSpec>> {
  const annotations = pod.metadata.annotations ?? {};
  const references = new Map((pod.spec.volumes ?? []).map((volume) => [volume.name, volume.image?.reference]));
  const specs = [...imageVolumes].map(([name, image]): [string, Init<ImageSpec>] => {
    const userSpecifiedImage = references.get(name) ?? '';
    return [name, { image, userSpecifiedImage, annotations }];
  });
  return new Map(specs);
}
