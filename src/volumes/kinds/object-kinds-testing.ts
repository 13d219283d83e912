/** For tests: an API server in a few maps, and the kinds that are made from it, on plain directories. */
import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod, PodSpec } from '../../api/pod.ts';
import type { ConfigMap, Secret } from '../../api/referenced-objects.ts';
import type { Volume } from '../../api/volume.ts';
import { createSystemClock } from '../../base/clock.ts';
import { CodedError } from '../../base/errors.ts';
import type { SetUpAnswer, VolumeDirectories, VolumeKind, VolumeReady } from '../kind.ts';
import { volumeDirectory } from '../rules/places.ts';
import { createObjectKinds, type VolumeObjects } from './object-kinds.ts';

export interface TestObjects {
  readonly configMaps: Map<string, ConfigMap>;
  readonly secrets: Map<string, Secret>;
  /** Every request, in order. */
  readonly requests: string[];
  readonly objects: VolumeObjects;
}

const meta = (name: string) => ({ name, namespace: 'golden', uid: `uid-of-${name}`, resourceVersion: '1' });
export const configMap = (name: string, content: Omit<ConfigMap, 'metadata'>): ConfigMap => ({
  metadata: meta(name),
  ...content,
});
export const secret = (name: string, data: Readonly<Record<string, string>>): Secret => ({
  metadata: meta(name),
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
});

/** Tokens are numbered, expire after the requested time, and are to be replaced at 80 % of it. */
export function testObjects(now: () => number = () => 0): TestObjects {
  const configMaps = new Map<string, ConfigMap>();
  const secrets = new Map<string, Secret>();
  const requests: string[] = [];
  const find = <T>(map: Map<string, T>, kind: string, name: string) => {
    requests.push(`${kind} ${name}`);
    const object = map.get(name);
    const message = `${kind} "${name}" not found`;
    return Promise.resolve(
      object === undefined ? { kind: 'missing' as const, message } : { kind: 'found' as const, object },
    );
  };
  const tokens = new Map<string, { token: string; expiresAt: number; refreshAt: number }>();
  const objects: VolumeObjects = {
    configMap: (_, name) => find(configMaps, 'configmap', name),
    secret: (_, name) => find(secrets, 'secret', name),
    token: ({ pod, serviceAccountName, audiences, expirationSeconds }) => {
      const key = `${serviceAccountName} for ${pod.name} to ${audiences.join()}`;
      const known = tokens.get(key);
      if (known !== undefined && now() < known.refreshAt) return Promise.resolve(known);
      requests.push(`token ${key}`);
      const life = expirationSeconds * 1000;
      const made = { token: `${key} at ${now()}`, expiresAt: now() + life, refreshAt: now() + 0.8 * life };
      tokens.set(key, made);
      return Promise.resolve(made);
    },
    clusterTrustBundles: (request) => {
      if ('name' in request && request.name === 'roots') return Promise.resolve({ ok: true, value: 'PEM of roots\n' });
      if ('name' in request && request.name === 'away')
        return Promise.reject(new CodedError('unavailable', 'no API server'));
      return Promise.resolve({ ok: false, problem: 'no bundle matches' });
    },
    podCertificate: ({ volumeName, sourceIndex }) =>
      Promise.resolve(
        sourceIndex === 0
          ? { kind: 'issued', privateKey: 'KEY\n', certificateChain: 'CHAIN\n', expiresAt: 1 }
          : { kind: 'waiting', message: `no credentials yet for ${volumeName}` },
      ),
  };
  return { configMaps, secrets, requests, objects };
}

/** Directories with the modes that a disk and a tmpfs give them. */
export const plainDirectories: VolumeDirectories = {
  ensure: async ({ directory, medium }) => {
    if ((await mkdir(directory, { recursive: true })) === undefined) return;
    await chmod(directory, medium === 'disk' ? 0o777 : 0o1777);
  },
  remove: (directory) => rm(directory, { recursive: true, force: true }),
};

export interface TestVolumes {
  readonly kinds: readonly VolumeKind[];
  directory(pod: Pod, volume: Volume): string;
  answer(pod: Pod, name: string): Promise<SetUpAnswer>;
  /** Fails with the message of an answer that is not `ready`. */
  setUp(pod: Pod, name: string): Promise<VolumeReady>;
  tearDown(pod: Pod, name: string): Promise<void>;
}

const signal = new AbortController().signal;

export function testVolumes(root: string, objects: VolumeObjects): TestVolumes {
  let random = 0;
  // Old directories go at once: no one reads them here.
  const clock = { ...createSystemClock(), sleep: () => Promise.resolve() };
  const kinds = createObjectKinds(
    {
      clock,
      random: () => ++random,
      directories: plainDirectories,
      objects,
      nodeAllocatable: () => ({ cpu: '2', memory: '4Gi' }),
      memoryBytes: () => undefined,
    },
    { podLevel: true },
  );
  const find = (pod: Pod, name: string) => {
    const volume = pod.spec.volumes?.find((candidate) => candidate.name === name);
    const kind = volume === undefined ? undefined : kinds.find((candidate) => candidate.handles(volume));
    if (volume === undefined || kind === undefined) throw new Error(`no volume of ours is named ${name}`);
    return { volume, kind };
  };
  const directory = (pod: Pod, volume: Volume): string =>
    volumeDirectory(join(root, pod.metadata.uid), find(pod, volume.name).kind.plugin, volume.name);
  const answer = (pod: Pod, name: string): Promise<SetUpAnswer> => {
    const { volume, kind } = find(pod, name);
    const fsGroup = pod.spec.securityContext?.fsGroup;
    const request = { pod, volume, directory: directory(pod, volume), fsGroup, enter: () => undefined };
    return kind.setUp(request, signal);
  };
  return {
    kinds,
    directory,
    answer,
    setUp: async (pod, name) => {
      const given = await answer(pod, name);
      if (given.kind !== 'ready') throw new CodedError('unavailable', given.message);
      return given.ready;
    },
    tearDown: (pod, name) => {
      const { volume, kind } = find(pod, name);
      return kind.tearDown({ uid: pod.metadata.uid as never, name, directory: directory(pod, volume) }, signal);
    },
  };
}

export function podWith(volumes: readonly Volume[], more: Partial<PodSpec> = {}, uid = 'u-1'): Pod {
  return {
    metadata: { name: 'p', namespace: 'golden', uid, labels: { a: 'b' } },
    spec: { containers: [{ name: 'c' }], serviceAccountName: 'default', volumes, ...more },
  };
}
