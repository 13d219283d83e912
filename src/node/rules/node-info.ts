/** What a node reports about its machine, its runtime and its images. */
import type { NodeImage, NodeRuntimeHandler, NodeSystemInfo } from '../../api/node.ts';
import type { Image, RuntimeHandler } from '../../wire/gen/cri-runtime-v1.ts';

export interface MachineIdentity {
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly architecture: string;
  /** Bytes; 0 without swap. */
  readonly swap: number;
}

export interface RuntimeVersion {
  readonly name: string;
  /** As the runtime reports it; undefined before its first answer. */
  readonly version: string | undefined;
}

export function computeNodeInfo(
  machine: MachineIdentity,
  runtime: RuntimeVersion,
  kubeletVersion: string,
): NodeSystemInfo {
  return {
    machineID: machine.machineId,
    systemUUID: machine.systemUuid,
    bootID: machine.bootId,
    kernelVersion: machine.kernelVersion,
    osImage: machine.osImage,
    containerRuntimeVersion: `${runtime.name}://${plainVersion(runtime.version)}`,
    kubeletVersion,
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: machine.architecture,
    ...(machine.swap > 0 ? { swap: { capacity: machine.swap } } : {}),
  };
}

/** `v2.4.2` is `2.4.2`, and `1.6.20~ds1` is `1.6.20`; suffixes that semantic versions allow stay. */
function plainVersion(version: string | undefined): string {
  const match = /^\s*v?(\d+(?:\.\d+)+)(.*)$/.exec(version ?? '');
  if (match === null) return 'Unknown';
  const [, numbers = '', rest = ''] = match;
  return /^[-+]/.test(rest) && numbers.split('.').length === 3 ? `${numbers}${rest}` : numbers;
}

const NAMES_AN_IMAGE = 5;

/** The largest first, at most `most` of them; -1: all. */
export function computeImages(images: readonly Image[], most: number): readonly NodeImage[] {
  const sorted = images.toSorted((a, b) => {
    if (a.size !== b.size) return a.size > b.size ? -1 : 1;
    return a.id > b.id ? -1 : 1;
  });
  const reported = most > -1 ? sorted.slice(0, most) : sorted;
  return reported.map(({ repoDigests, repoTags, size }) => ({
    names: [...repoDigests, ...repoTags].slice(0, NAMES_AN_IMAGE),
    sizeBytes: Number(size),
  }));
}

export function computeHandlers(handlers: readonly RuntimeHandler[]): readonly NodeRuntimeHandler[] {
  return handlers
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, features }) => ({
      name,
      features: {
        recursiveReadOnlyMounts: features?.recursiveReadOnlyMounts ?? false,
        userNamespaces: features?.userNamespaces ?? false,
      },
    }));
}

/** Features that the scheduler must know before it assigns certain pods to this node, with their gates. */
const DECLARABLE = [
  'ExtendWebSocketsToKubelet',
  'InPlacePodLevelResourcesVerticalScaling',
  'InPlacePodVerticalScalingInitContainers',
  'RestartAllContainersOnContainerExits',
] as const;

export type DeclarableFeature = (typeof DECLARABLE)[number];

/** Only what is built: with a false promise, pods would be assigned here and fail. Undefined: nothing is declared. */
export function computeDeclaredFeatures(
  enabled: (gate: DeclarableFeature | 'NodeDeclaredFeatures') => boolean,
  built: ReadonlySet<DeclarableFeature>,
): readonly string[] | undefined {
  if (!enabled('NodeDeclaredFeatures')) return undefined;
  return DECLARABLE.filter((feature) => built.has(feature) && enabled(feature));
}
