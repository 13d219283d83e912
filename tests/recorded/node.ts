/**
 * The node on which the lives were recorded, and what it knew besides the pod when it made a request: objects, services,
 * images, addresses. What the reference chose at random is taken from the recording.
 */
import assert from 'node:assert/strict';
import type { Container } from '../../src/api/container.ts';
import type { Pod } from '../../src/api/pod.ts';
import type { QosClass } from '../../src/api/pod-status.ts';
import { CONFIG_SEEN, CONFIG_SOURCE } from '../../src/api/pod-traits.ts';
import type { MountedVolume } from '../../src/model/mounted-volume.ts';
import type { ServiceView } from '../../src/model/service.ts';
import { createNetwork } from '../../src/network/network.ts';
import { type ContainerInput, noExtras } from '../../src/runtime/spec/container.ts';
import type { EnvEntry, EnvironmentInput, ObjectData } from '../../src/runtime/spec/environment.ts';
import { subPathsOf } from '../../src/runtime/spec/mounts.ts';
import { hostUserNamespace, ownUserNamespace, userNamespaceNeed } from '../../src/runtime/spec/namespaces.ts';
import type { Gates, ResourceSettings, SecuritySettings, SpecGate } from '../../src/runtime/spec/settings.ts';
import { imageUserOf } from '../../src/runtime/spec/user.ts';
import { RunPodSandboxRequest } from '../../src/wire/gen/cri-runtime-v1.ts';
import { type RecordedLife, recordedMessage } from './lives.ts';

export const settings: ResourceSettings & SecuritySettings = {
  cgroupVersion: 1,
  cpuCfsQuota: true,
  cpuCfsQuotaPeriod: 100_000,
  memoryCapacity: 24_684_100n * 1024n,
  swapCapacity: 0n,
  swapController: true,
  swapBehavior: '',
  singleProcessOomKill: true,
  hugePageSizes: ['2MB', '1GB'],
  pageSize: 4096,
  memoryThrottlingFactor: 0.9,
  memoryReservationPolicy: 'None',
  seccompDefault: false,
  seccompProfileRoot: '$ROOT/seccomp',
  selinux: false,
  thermalPaths: [],
};
const nodeAllocatable = { cpu: '2', memory: '24581700Ki', 'ephemeral-storage': '267847642337' };
const alphaGates: ReadonlySet<SpecGate> = new Set(['ContainerStopSignals', 'MemoryQoS']);
export const gates: Gates = (name) => !alphaGates.has(name);
const services: readonly ServiceView[] = [
  { name: 'kubernetes', namespace: 'default', clusterIp: '10.96.0.1', ports: [{ name: 'https', port: 443 }] },
  {
    name: 'web-front',
    namespace: 'golden',
    clusterIp: '10.96.7.7',
    ports: [
      { name: 'http', port: 80, protocol: 'TCP' },
      { name: 'admin', port: 8443, protocol: 'TCP' },
    ],
  },
];
const imageUids: Readonly<Record<string, number>> = { 'registry.k8s.io/e2e-test-images/nonroot:1.5': 1234 };
export const runtimeHandlers: Readonly<Record<string, string>> = { plain: 'runc' };
const resolvConf = 'nameserver 10.255.255.53\n';
export const network = createNetwork(
  {
    mono: () => performance.now(),
    readTextFile: (path) => Promise.resolve(path === '/etc/hosts' ? nodeHostsFile : resolvConf),
    nodeIps: () => ['192.0.2.10'],
  },
  {
    clusterDns: ['10.96.0.10'],
    clusterDomain: 'cluster.local',
    resolvConf: '/etc/resolv.conf',
    hostnameOverride: true,
  },
);
export const nodeHostsFile = '127.0.0.1 localhost\n127.0.0.1 runsc\n127.0.0.1 vm\n';

const found = (data: Readonly<Record<string, string>>): ObjectData => ({
  kind: 'found',
  data: new Map(Object.entries(data)),
});
const objectsOf =
  (kind: string, known: Readonly<Record<string, ObjectData>>) =>
  (name: string): ObjectData =>
    known[name] ?? { kind: 'missing', message: `${kind} ${JSON.stringify(name)} not found` };

/** The API server's pod with the two annotations that a kubelet adds when it first sees one; the time is the recorded one. */
export function seenPod(life: RecordedLife): Pod {
  const recorded = sandboxConfig(life)?.annotations ?? {};
  const { metadata } = life.pod;
  const seen = { [CONFIG_SOURCE]: 'api', [CONFIG_SEEN]: recorded[CONFIG_SEEN] ?? '' };
  return { ...life.pod, metadata: { ...metadata, annotations: { ...metadata.annotations, ...seen } } };
}

function sandboxConfig(life: RecordedLife) {
  const call = life.cri.find((candidate) => candidate.call === 'RunPodSandbox');
  return call && recordedMessage(RunPodSandboxRequest, call.req).config;
}

export function environmentInput(life: RecordedLife, pod: Pod, container: Container): EnvironmentInput {
  return {
    pod,
    container,
    podIps: podIps(life),
    hostIps: ['192.0.2.10'],
    nodeAllocatable,
    services,
    configMap: objectsOf('configmap', { settings: found({ color: 'blue', 'app.conf': 'a=1\nb=2\n', 'key-1': 'v1' }) }),
    secret: objectsOf('secret', { pass: found({ user: 'ada', word: 's3cret' }) }),
    envFile: () => ({ kind: 'no-volume' }),
    extra: [],
    gates,
  };
}

/** The addresses as a later status shows them; a pod on the node's network has none of its own. */
export function podIps(life: RecordedLife): readonly string[] {
  if (life.pod.spec.hostNetwork) return [];
  return (
    life.statuses
      .map(({ status }) => status.podIPs ?? [])
      .find((ips) => ips.length > 0)
      ?.map(({ ip }) => ip) ?? []
  );
}

export function cgroupParent(life: RecordedLife): string {
  const qos = qosClassOf(life);
  const directory = qos === 'Guaranteed' ? '' : `/${qos.toLowerCase()}`;
  return `/kubepods${directory}/pod${life.pod.metadata.uid}`;
}

/** The range of ids is chosen at random and kept on disk, so the recorded one is taken over. */
export function userNamespace(life: RecordedLife, pod: Pod) {
  const need = userNamespaceNeed({ pod, enabled: true, runtimeHandler: '', handlerSupports: true });
  assert.ok(need.kind === 'host' || need.kind === 'own');
  if (need.kind === 'host') return hostUserNamespace();
  const range = sandboxConfig(life)?.linux?.securityContext?.namespaceOptions?.usernsOptions?.uids[0];
  assert.ok(range !== undefined);
  return ownUserNamespace(range);
}

function mountedVolumes(pod: Pod, podDirectory: string): ReadonlyMap<string, MountedVolume> {
  const directories: readonly (readonly [string, string])[] = [
    ['emptyDir', 'kubernetes.io~empty-dir'],
    ['configMap', 'kubernetes.io~configmap'],
    ['secret', 'kubernetes.io~secret'],
    ['downwardAPI', 'kubernetes.io~downward-api'],
    ['projected', 'kubernetes.io~projected'],
  ];
  const mounted = (pod.spec.volumes ?? []).flatMap((volume): readonly (readonly [string, MountedVolume])[] => {
    if (volume.hostPath !== undefined) return [[volume.name, { hostPath: volume.hostPath.path }]];
    const directory = directories.find(([kind]) => volume[kind] !== undefined)?.[1];
    return directory === undefined
      ? []
      : [[volume.name, { hostPath: `${podDirectory}/volumes/${directory}/${volume.name}` }]];
  });
  return new Map(mounted);
}

function imageVolumes(pod: Pod, imageRef: string) {
  const volumes = (pod.spec.volumes ?? []).filter(({ image }) => image !== undefined);
  return new Map(
    volumes.map(({ name, image }) => [
      name,
      { image: imageRef, userSpecifiedImage: image?.reference ?? '', annotations: pod.metadata.annotations ?? {} },
    ]),
  );
}

function qosClassOf(life: RecordedLife): QosClass {
  return life.statuses.at(-1)?.status.qosClass ?? 'BestEffort';
}

export interface ContainerRun {
  readonly container: Container;
  readonly env: readonly EnvEntry[];
  readonly attempt: number;
  readonly imageRef: string;
  readonly terminationLog: string | undefined;
}

export function containerInput(life: RecordedLife, run: ContainerRun): ContainerInput {
  const pod = seenPod(life);
  const { container, env, imageRef } = run;
  const podDirectory = `$ROOT/pods/${pod.metadata.uid}`;
  const subPaths = subPathsOf(pod, container, env);
  assert.ok(subPaths.ok);
  const place = (volume: string, index: number) =>
    `${podDirectory}/volume-subpaths/${volume}/${container.name}/${index}`;
  return {
    ...run,
    pod,
    imageUser: imageUserOf({ uid: imageUids[container.image ?? ''], username: '' }),
    qosClass: qosClassOf(life),
    volumes: mountedVolumes(pod, podDirectory),
    imageVolumes: imageVolumes(pod, imageRef),
    subPaths: new Map(subPaths.value.map(({ index, volumeName }) => [index, place(volumeName, index)])),
    blockDevices: new Map(),
    podDirectory,
    podIps: podIps(life),
    userNamespace: userNamespace(life, pod),
    targetId: undefined,
    extraGroups: [],
    exclusiveCpus: false,
    pinning: { cpus: '', mems: '' },
    nodeAllocatable,
    handlerRecursiveReadOnly: true,
    extras: noExtras,
    settings,
    gates,
  };
}
