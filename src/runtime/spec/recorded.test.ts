/**
 * Every RunPodSandbox and CreateContainer of the recorded lives, made again from the recorded pod.
 * Environment variables and DNS options are compared as sets: the reference takes both from maps, in random order.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { loadLives, type RecordedCall, type RecordedLife, recordedMessage } from '../../../tests/recorded/lives.ts';
import type { Container } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';
import { allContainers, CONFIG_SEEN, CONFIG_SOURCE } from '../../api/pod-traits.ts';
import { createNetwork } from '../../network/network.ts';
import { decode } from '../../wire/decode.ts';
import { encode } from '../../wire/encode.ts';
import { CreateContainerRequest, RunPodSandboxRequest } from '../../wire/gen/cri-runtime-v1.ts';
import type { Init, MessageType } from '../../wire/message.ts';
import { makeContainerConfig, noExtras } from './container.ts';
import { type EnvironmentInput, makeEnvironment, type ObjectData } from './environment.ts';
import { type MountedVolume, subPathsOf } from './mounts.ts';
import { hostUserNamespace, ownUserNamespace, userNamespaceNeed } from './namespaces.ts';
import { makeSandboxConfig } from './sandbox.ts';
import type { ServiceView } from './services.ts';
import type { Gates, ResourceSettings, SecuritySettings, SpecGate } from './settings.ts';
import { imageUserOf } from './user.ts';

interface Difference {
  readonly life: string;
  readonly call: string;
  /** Where in the request, as `config.linux.resources`. */
  readonly path: string;
  readonly reason: string;
}

const differences: readonly Difference[] = JSON.parse(
  readFileSync(new URL('../../../tests/recorded/differences.json', import.meta.url), 'utf8'),
);
const used = new Set<Difference>();

// The node on which the lives were recorded.
const settings: ResourceSettings & SecuritySettings = {
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
const gates: Gates = (name) => !alphaGates.has(name);
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
const runtimeHandlers: Readonly<Record<string, string>> = { plain: 'runc' };
const resolvConf = 'nameserver 10.255.255.53\n';
const network = createNetwork(
  {
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
const nodeHostsFile = '127.0.0.1 localhost\n127.0.0.1 runsc\n127.0.0.1 vm\n';

const found = (data: Readonly<Record<string, string>>): ObjectData => ({
  kind: 'found',
  data: new Map(Object.entries(data)),
});
const objectsOf =
  (kind: string, known: Readonly<Record<string, ObjectData>>) =>
  (name: string): ObjectData =>
    known[name] ?? { kind: 'missing', message: `${kind} ${JSON.stringify(name)} not found` };

const lives = loadLives();

describe('recorded requests to the runtime', () => {
  for (const life of lives) {
    for (const [index, call] of life.cri.entries()) {
      if (call.call !== 'RunPodSandbox' && call.call !== 'CreateContainer') continue;
      test(`${life.name}: call ${index}, ${call.call}`, async () => {
        if (call.call === 'RunPodSandbox') await checkSandbox(life, call);
        else checkContainer(life, call);
      });
    }
  }
  test('differences.json lists nothing that does not differ', () => {
    assert.deepEqual(
      differences.filter((difference) => !used.has(difference)),
      [],
    );
  });
});

async function checkSandbox(life: RecordedLife, call: RecordedCall): Promise<void> {
  const want = recordedMessage(RunPodSandboxRequest, call.req);
  const pod = seenPod(life, want.config?.annotations ?? {});
  const hostname = network.hostnameOf(pod);
  const dns = await network.dnsOf(pod);
  assert.ok(hostname.ok && dns.ok);
  const made = makeSandboxConfig({
    pod,
    attempt: 0,
    hostname: hostname.value.kernelName,
    dns: dns.value.config,
    podLogsDirectory: '$LOGS',
    cgroupParent: cgroupParent(life),
    userNamespace: userNamespace(life, pod),
    extraGroups: [],
    exclusiveCpus: false,
    settings,
    gates,
  });
  assert.ok(made.kind === 'ready');
  const runtimeHandler = runtimeHandlers[pod.spec.runtimeClassName ?? ''] ?? '';
  compare(life, call, RunPodSandboxRequest, { config: made.config, runtimeHandler }, want);
}

function checkContainer(life: RecordedLife, call: RecordedCall): void {
  const { sandbox_config: _, ...req } = call.req;
  const want = recordedMessage(CreateContainerRequest, req);
  const pod = seenPod(life, sandboxAnnotations(life));
  const container = allContainers(pod).find(({ name }) => name === want.config?.metadata?.name);
  assert.ok(container !== undefined && want.config !== undefined);
  const env = makeEnvironment(environmentInput(life, pod, container));
  assert.ok(env.kind === 'ready');
  const subPaths = subPathsOf(pod, container, env.env);
  assert.ok(subPaths.ok);
  const podDirectory = `$ROOT/pods/${pod.metadata.uid}`;
  const place = (volume: string, index: number) =>
    `${podDirectory}/volume-subpaths/${volume}/${container.name}/${index}`;
  const made = makeContainerConfig({
    pod,
    container,
    attempt: attemptOf(life, call, container),
    imageRef: want.config.image?.image ?? '',
    imageUser: imageUserOf({ uid: imageUids[container.image ?? ''], username: '' }),
    qosClass: life.statuses.at(-1)?.status.qosClass ?? 'BestEffort',
    env: env.env,
    volumes: mountedVolumes(pod, podDirectory),
    imageVolumes: imageVolumes(pod, want.config.image?.image ?? ''),
    subPaths: new Map(subPaths.value.map(({ index, volumeName }) => [index, place(volumeName, index)])),
    blockDevices: new Map(),
    podDirectory,
    podIps: podIps(life),
    terminationLog: want.config.mounts.find(({ containerPath }) => containerPath === '/dev/termination-log')?.hostPath,
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
  });
  assert.ok(made.kind === 'ready', made.kind === 'problem' ? made.message : '');
  // The random part of the termination log's name is taken over; its place must still be ours.
  for (const { hostPath } of want.config.mounts.filter((mount) => mount.containerPath === '/dev/termination-log')) {
    assert.match(hostPath.slice(`${podDirectory}/containers/${container.name}/`.length), /^[0-9a-f]{8}$/);
  }
  compare(life, call, CreateContainerRequest, { podSandboxId: want.podSandboxId, config: made.config }, want);
}

/** The API server's pod with the two annotations that a kubelet adds when it first sees one; the time is the recorded one. */
function seenPod(life: RecordedLife, recorded: Readonly<Record<string, string>>): Pod {
  const { metadata } = life.pod;
  const seen = { [CONFIG_SOURCE]: 'api', [CONFIG_SEEN]: recorded[CONFIG_SEEN] ?? '' };
  return { ...life.pod, metadata: { ...metadata, annotations: { ...metadata.annotations, ...seen } } };
}

function sandboxAnnotations(life: RecordedLife): Readonly<Record<string, string>> {
  const call = life.cri.find((candidate) => candidate.call === 'RunPodSandbox');
  return call === undefined ? {} : (recordedMessage(RunPodSandboxRequest, call.req).config?.annotations ?? {});
}

function environmentInput(life: RecordedLife, pod: Pod, container: Container): EnvironmentInput {
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
function podIps(life: RecordedLife): readonly string[] {
  if (life.pod.spec.hostNetwork) return [];
  return (
    life.statuses
      .map(({ status }) => status.podIPs ?? [])
      .find((ips) => ips.length > 0)
      ?.map(({ ip }) => ip) ?? []
  );
}

function cgroupParent(life: RecordedLife): string {
  const qos = life.statuses.at(-1)?.status.qosClass ?? 'BestEffort';
  const folder = qos === 'Guaranteed' ? '' : `/${qos.toLowerCase()}`;
  return `/kubepods${folder}/pod${life.pod.metadata.uid}`;
}

/** The range of ids is chosen at random and kept on disk, so the recorded one is taken over. */
function userNamespace(life: RecordedLife, pod: Pod) {
  const need = userNamespaceNeed({ pod, enabled: true, runtimeHandler: '', handlerSupports: true });
  assert.ok(need.kind === 'host' || need.kind === 'own');
  if (need.kind === 'host') return hostUserNamespace();
  const call = life.cri.find((candidate) => candidate.call === 'RunPodSandbox');
  const recorded = recordedMessage(RunPodSandboxRequest, call?.req).config?.linux?.securityContext;
  const range = recorded?.namespaceOptions?.usernsOptions?.uids[0];
  assert.ok(range !== undefined);
  return ownUserNamespace(range);
}

function mountedVolumes(pod: Pod, podDirectory: string): ReadonlyMap<string, MountedVolume> {
  const folders: readonly (readonly [string, string])[] = [
    ['emptyDir', 'kubernetes.io~empty-dir'],
    ['configMap', 'kubernetes.io~configmap'],
    ['secret', 'kubernetes.io~secret'],
    ['downwardAPI', 'kubernetes.io~downward-api'],
    ['projected', 'kubernetes.io~projected'],
  ];
  const mounted = (pod.spec.volumes ?? []).flatMap((volume): readonly (readonly [string, MountedVolume])[] => {
    if (volume.hostPath !== undefined) return [[volume.name, { hostPath: volume.hostPath.path }]];
    const folder = folders.find(([kind]) => volume[kind] !== undefined)?.[1];
    return folder === undefined
      ? []
      : [[volume.name, { hostPath: `${podDirectory}/volumes/${folder}/${volume.name}` }]];
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

/** How often the container was created before, as far as the recording goes. */
function attemptOf(life: RecordedLife, call: RecordedCall, container: Container): number {
  const earlier = life.cri.slice(0, life.cri.indexOf(call)).filter((candidate) => {
    if (candidate.call !== 'CreateContainer' || candidate.error !== undefined) return false;
    const { sandbox_config: _, ...req } = candidate.req;
    return recordedMessage(CreateContainerRequest, req).config?.metadata?.name === container.name;
  });
  return earlier.length;
}

function compare<T>(life: RecordedLife, call: RecordedCall, type: MessageType<T>, made: Init<T>, want: T): void {
  // Encoded and decoded, so that what is compared is what goes over the wire.
  const ours = comparable(decode(type, encode(type, made)));
  const theirs = comparable(want);
  for (const difference of differences.filter((item) => item.life === life.name && item.call === call.call)) {
    const [left, right] = [valueAt(ours, difference.path), valueAt(theirs, difference.path)];
    if (isSame(left, right)) continue;
    used.add(difference);
    setAt(ours, difference.path, right);
  }
  assert.deepEqual(ours, theirs);
}

type Json = { [key: string]: unknown };

/** A copy in which what has no order is sorted and bytes are text. */
function comparable(message: unknown): Json {
  const copy = JSON.parse(
    JSON.stringify(message, (_key, value: unknown) => (value instanceof Uint8Array ? undefined : value)),
    (_key, value) => value,
  ) as Json;
  const request = message as {
    config?: { envs?: readonly { key: string; value: Uint8Array }[]; dnsConfig?: { options: readonly string[] } };
  };
  const config = copy['config'] as Json | undefined;
  if (config === undefined) return copy;
  const { envs, dnsConfig } = request.config ?? {};
  if (envs !== undefined)
    config['envs'] = envs.map(({ key, value }) => `${key}=${new TextDecoder().decode(value)}`).sort();
  if (dnsConfig !== undefined) config['dnsConfig'] = { ...dnsConfig, options: [...dnsConfig.options].sort() };
  return copy;
}

function valueAt(message: Json, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (value as Json | undefined)?.[key], message);
}

function setAt(message: Json, path: string, value: unknown): void {
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  const owner = keys.length === 0 ? message : (valueAt(message, keys.join('.')) as Json);
  owner[last] = value;
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
