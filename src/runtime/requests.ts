/** Gathers what requests to the runtime are made from (names, addresses, images, objects), and makes them by the rules of `spec/`. */

import { join } from 'node:path';
import { ownIps } from '../api/host-network.ts';
import { type PodUid, podUid } from '../api/ids.ts';
import type { ResourceList } from '../api/meta.ts';
import { type Parsed, parsed, unparsable } from '../api/parsed.ts';
import type { Pod } from '../api/pod.ts';
import type { QosClass } from '../api/pod-status.ts';
import { isStaticPod } from '../api/pod-traits.ts';
import { describeError } from '../base/errors.ts';
import type { ContainerRequest, ContainerRequestInput, SandboxRequest } from '../model/runtime-request.ts';
import type { ServiceView } from '../model/service.ts';
import type { DNSConfig, ImageSpec, UserNamespace } from '../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../wire/message.ts';
import { makeContainerConfig, noExtras } from './spec/container.ts';
import { readEnvFile } from './spec/env-file.ts';
import {
  type EnvFile,
  type EnvironmentInput,
  environmentObjects,
  makeEnvironment,
  type ObjectData,
} from './spec/environment.ts';
import { type RequestedSubPath, subPathsOf } from './spec/mounts.ts';
import { hostUserNamespace, ownUserNamespace, userNamespaceNeed } from './spec/namespaces.ts';
import { makeSandboxConfig } from './spec/sandbox.ts';
import type { Gates, ResourceSettings, SecuritySettings } from './spec/settings.ts';
import { imageUserOf } from './spec/user.ts';

export interface RequestsDeps {
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
  readonly objects: ObjectsPort;
  /** The ids of a pod with users of its own. */
  readonly idRange: (uid: PodUid) => Promise<Parsed<{ readonly hostId: number; readonly length: number }>>;
  /** The text of a file of a volume: never of one outside, whatever links a container has made there. */
  readonly readVolumeFile: (volumePath: string, file: string, signal: AbortSignal) => Promise<string>;
  /** Mounts parts of volumes at places of their own, by index in `volumeMounts`. */
  readonly prepareSubPaths: (
    request: { readonly uid: PodUid; readonly container: string; readonly subPaths: readonly PlacedSubPath[] },
    signal: AbortSignal,
  ) => Promise<Parsed<ReadonlyMap<number, string>>>;
}

interface PlacedSubPath extends RequestedSubPath {
  readonly volumePath: string;
}

/** What the API server has that pods refer to. A node without one has none of it. */
export interface ObjectsPort {
  /** Undefined: not known yet. A static pod does not wait for them. */
  readonly services: (wait: boolean, signal: AbortSignal) => Promise<readonly ServiceView[] | undefined>;
  readonly configMap: (namespace: string, name: string, signal: AbortSignal) => Promise<ObjectData>;
  readonly secret: (namespace: string, name: string, signal: AbortSignal) => Promise<ObjectData>;
  /** The handler of a RuntimeClass. */
  readonly runtimeHandler: (runtimeClass: string, signal: AbortSignal) => Promise<Parsed<string>>;
}

export interface RequestsConfig {
  readonly podLogsDirectory: string;
  readonly settings: ResourceSettings & SecuritySettings;
  readonly gates: Gates;
}

type Problem = { readonly kind: 'problem'; readonly reason: string; readonly message: string };
export interface Requests {
  sandbox(pod: Pod, attempt: number, signal: AbortSignal): Promise<SandboxRequest>;
  container(input: ContainerRequestInput, signal: AbortSignal): Promise<ContainerRequest>;
}

export function createRequests(deps: RequestsDeps, config: RequestsConfig): Requests {
  const { network, objects } = deps;
  const { gates, settings } = config;

  const userNamespace = async (pod: Pod, runtimeHandler: string): Promise<Parsed<Init<UserNamespace> | undefined>> => {
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
  };

  const handlerOf = (pod: Pod, signal: AbortSignal): Promise<Parsed<string>> => {
    const name = pod.spec.runtimeClassName ?? '';
    return name === '' ? Promise.resolve(parsed('')) : objects.runtimeHandler(name, signal);
  };

  const sandbox: Requests['sandbox'] = async (pod, attempt, signal) => {
    const handler = await handlerOf(pod, signal);
    if (!handler.ok) return { kind: 'problem', message: handler.problem };
    const hostname = network.hostnameOf(pod);
    if (!hostname.ok) return { kind: 'problem', message: hostname.problem };
    const dns = await network.dnsOf(pod);
    if (!dns.ok) return { kind: 'problem', message: dns.problem };
    const namespace = await userNamespace(pod, handler.value);
    if (!namespace.ok) return { kind: 'problem', message: namespace.problem };
    const made = makeSandboxConfig({
      pod,
      attempt,
      hostname: hostname.value.kernelName,
      dns: dns.value.config,
      podLogsDirectory: config.podLogsDirectory,
      cgroupParent: deps.cgroupParent(pod),
      userNamespace: namespace.value,
      extraGroups: [],
      exclusiveCpus: false,
      settings,
      gates,
    });
    if (made.kind === 'problem') return made;
    return { ...made, runtimeHandler: handler.value, warnings: dns.value.warnings };
  };

  const container: Requests['container'] = async (input, signal) => {
    const { pod, image } = input;
    const nodeAllocatable = deps.nodeAllocatable();
    const nodeIps = deps.nodeIps();
    const files = await readEnvFiles(deps, input, signal);
    const read = await readObjects(objects, input, signal);
    const env = makeEnvironment({
      pod,
      container: input.container,
      podIps: ownIps(pod, input.podIps, nodeIps),
      hostIps: nodeIps,
      nodeAllocatable,
      ...read,
      envFile: (volume, path) => files.get(fileKey(volume, path)) ?? { kind: 'no-volume' },
      extra: [],
      gates,
    });
    if (env.kind === 'problem') return read.unread ? { ...env, actor: 'api-server' } : env;
    const subPaths = subPathsOf(pod, input.container, env.env);
    if (!subPaths.ok) return problem(subPaths.problem);
    const places = await prepareSubPaths(deps, input, subPaths.value, signal);
    if (!places.ok) return problem(places.problem);
    const handler = await handlerOf(pod, signal);
    const runtimeHandler = handler.ok ? handler.value : '';
    const userNs = await userNamespace(pod, runtimeHandler);
    if (!userNs.ok) return problem(userNs.problem);
    return makeContainerConfig({
      ...input,
      imageRef: image.imageRef,
      imageUser: imageUserOf(image.user),
      qosClass: deps.qosClass(pod),
      env: env.env,
      imageVolumes: imageSpecs(input),
      subPaths: places.value,
      blockDevices: new Map(),
      userNamespace: userNs.value,
      extraGroups: [],
      exclusiveCpus: false,
      pinning: { cpus: '', mems: '' },
      nodeAllocatable,
      handlerRecursiveReadOnly: deps.handlerFeatures(runtimeHandler).recursiveReadOnly,
      extras: noExtras,
      settings,
      gates,
    });
  };

  return { sandbox, container };
}

/** A volume that is missing is told of when the mounts are made. */
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

interface ReadObjects extends Pick<EnvironmentInput, 'services' | 'configMap' | 'secret'> {
  /** One of them could not be read: not the same as one that is missing. */
  readonly unread: boolean;
}

/** The objects of the pod's namespace that its variables come from. */
async function readObjects(
  objects: ObjectsPort,
  { pod, container }: ContainerRequestInput,
  signal: AbortSignal,
): Promise<ReadObjects> {
  const { namespace } = pod.metadata;
  const wanted = environmentObjects(container);
  let unread = false;
  const readAll = async (names: readonly string[], read: ObjectsPort['secret']) => {
    const all = await Promise.all(names.map(async (name) => [name, await read(namespace, name, signal)] as const));
    const found = new Map(all);
    unread ||= all.some(([, { kind }]) => kind === 'failed');
    return (name: string): ObjectData => found.get(name) ?? { kind: 'missing', message: `object "${name}" not read` };
  };
  const [services, configMap, secret] = await Promise.all([
    objects.services(!isStaticPod(pod), signal),
    readAll(wanted.configMaps, objects.configMap),
    readAll(wanted.secrets, objects.secret),
  ]);
  return { services, configMap, secret, unread };
}

const fileKey = (volume: string, path: string) => `${volume}\n${path}`;

/** The files on the pod's volumes that its variables come from. */
async function readEnvFiles(
  { readVolumeFile }: RequestsDeps,
  { container, volumes }: ContainerRequestInput,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, EnvFile>> {
  const files = new Map<string, EnvFile>();
  for (const { valueFrom } of container.env ?? []) {
    const request = valueFrom?.fileKeyRef;
    const directory = request && volumes.get(request.volumeName)?.hostPath;
    const key = request && fileKey(request.volumeName, request.path);
    if (request === undefined || key === undefined || directory === undefined || files.has(key)) continue;
    const path = join(directory, request.path);
    try {
      const text = await readVolumeFile(directory, request.path, signal);
      files.set(key, { kind: 'read', path, values: readEnvFile(text) });
    } catch (error) {
      signal.throwIfAborted();
      files.set(key, { kind: 'failed', message: describeError(error) });
    }
  }
  return files;
}
