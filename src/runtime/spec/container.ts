/** From a container of a pod to the request that creates it. */
import type { Container } from '../../api/container.ts';
import type { StringMap } from '../../api/meta.ts';
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import type { Pod } from '../../api/pod.ts';
import { quoteText } from '../../base/go-text.ts';
import { type ContainerConfig, type Device, type Mount, Signal } from '../../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../../wire/message.ts';
import { type EnvEntry, type EnvValue, expandAll } from './environment.ts';
import { containerAnnotations, containerLabels } from './labels.ts';
import { containerMounts, type MountsInput } from './mounts.ts';
import { type ContainerResourcesInput, containerResources } from './resources.ts';
import { containerSecurity, type SecurityInput } from './security.ts';
import { type Gates, type ResourceSettings, type SecuritySettings, type SpecProblem, specProblem } from './settings.ts';
import { nonRootFault } from './user.ts';

/** A raw device that a volume gives. */
export interface BlockDevice {
  readonly hostPath: string;
  readonly readOnly: boolean;
}

/** What device plugins and dynamic resources add. */
export interface DeviceExtras {
  readonly mounts: readonly Init<Mount>[];
  readonly devices: readonly Init<Device>[];
  readonly cdiDevices: readonly string[];
  readonly annotations: StringMap;
}

export const noExtras: DeviceExtras = { mounts: [], devices: [], cdiDevices: [], annotations: {} };

export interface ContainerInput
  extends Omit<MountsInput, 'extra' | 'selinux' | 'recursiveReadOnly'>,
    Omit<SecurityInput, 'settings'>,
    Omit<ContainerResourcesInput, 'settings'> {
  readonly pod: Pod;
  readonly container: Container;
  /** Restart count. */
  readonly attempt: number;
  /** What the runtime calls the image. */
  readonly imageRef: string;
  /** All of it, from `makeEnvironment`. */
  readonly env: readonly EnvEntry[];
  /** By name of the volume. */
  readonly blockDevices: ReadonlyMap<string, BlockDevice>;
  /** The pod's runtime handler can make mounts recursively read-only. */
  readonly handlerRecursiveReadOnly: boolean;
  readonly extras: DeviceExtras;
  readonly settings: ResourceSettings & SecuritySettings;
  readonly gates: Gates;
}

export type ContainerResult = { readonly kind: 'ready'; readonly config: Init<ContainerConfig> } | SpecProblem;

export function makeContainerConfig(input: ContainerInput): ContainerResult {
  const { pod, container, attempt, env, extras, gates, settings } = input;
  const blockDevices = devicesOf(input);
  if (!blockDevices.ok) return specProblem(blockDevices.problem);
  const recursiveReadOnly = input.handlerRecursiveReadOnly && gates('RecursiveReadOnlyMounts');
  const mounts = containerMounts({ ...input, extra: extras.mounts, selinux: settings.selinux, recursiveReadOnly });
  if (!mounts.ok) return specProblem(mounts.problem);
  const fault = nonRootFault(pod, container, input.imageUser);
  if (fault !== undefined) return specProblem(fault);
  const { command = [], args = [] } = container;
  const words = expandAll([...command, ...args], env);
  if (!words.ok) return specProblem(words.problem);
  const security = containerSecurity(input);
  if (security.kind === 'problem') return security;
  return {
    kind: 'ready',
    config: {
      metadata: { name: container.name, attempt },
      image: { image: input.imageRef, userSpecifiedImage: container.image ?? '' },
      command: words.value.slice(0, command.length),
      args: words.value.slice(command.length),
      workingDir: container.workingDir ?? '',
      envs: env.map(({ name, value }) => ({ key: name, value: bytesOf(value) })),
      mounts: mounts.value,
      devices: [...extras.devices, ...blockDevices.value],
      cdiDevices: extras.cdiDevices.map((name) => ({ name })),
      labels: containerLabels(pod, container),
      annotations: containerAnnotations({ pod, container, attempt, extra: extras.annotations }),
      logPath: containerLogPath(container.name, attempt),
      stdin: container.stdin ?? false,
      stdinOnce: container.stdinOnce ?? false,
      tty: container.tty ?? false,
      linux: { resources: containerResources(input), securityContext: security.context },
      stopSignal: gates('ContainerStopSignals') ? signalOf(container.lifecycle?.stopSignal) : Signal.RUNTIME_DEFAULT,
    },
  };
}

/** Relative to the pod's log directory. */
export function containerLogPath(name: string, attempt: number): string {
  return `${name}/${attempt}.log`;
}

function bytesOf(value: EnvValue): Uint8Array {
  return typeof value === 'string' ? new TextEncoder().encode(value) : value;
}

function devicesOf({ container, blockDevices }: ContainerInput): Parsed<readonly Init<Device>[]> {
  const devices: Init<Device>[] = [];
  for (const { name, devicePath } of container.volumeDevices ?? []) {
    if (!devicePath.startsWith('/')) return unparsable(`error DevicePath \`${devicePath}\` must be an absolute path`);
    const device = blockDevices.get(name);
    if (device === undefined) {
      return unparsable(`cannot find volume ${quoteText(name)} to pass into container ${quoteText(container.name)}`);
    }
    devices.push({
      hostPath: device.hostPath,
      containerPath: devicePath,
      permissions: device.readOnly ? 'r' : 'mrw',
    });
  }
  return parsed(devices);
}

/** A signal that CRI has no number for is left to the runtime, which asks the image. */
function signalOf(name: string | undefined): Signal {
  const known: Readonly<Record<string, Signal>> = Signal;
  const spelled = name?.replace('+', 'PLUS').replace('-', 'MINUS') ?? '';
  return known[spelled] ?? Signal.RUNTIME_DEFAULT;
}
