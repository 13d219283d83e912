/**
 * A recorded life for a kubelet without an API server: the manifest of a static pod, and the recording without what only an
 * API server gives (the token of the service account, variables about services, generations).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Container } from '../../../src/api/container.ts';
import type { Pod } from '../../../src/api/pod.ts';
import type { RecordedCall, RecordedFile, RecordedInside, RecordedLife } from '../lives.ts';
import { nodeHostsFile } from '../node.ts';

export interface NotStandalone {
  readonly lives: readonly string[];
  readonly reason: string;
}

const NOT_STANDALONE = join(import.meta.dirname, '..', 'not-standalone.json');

/** The lives that need objects of an API server, each with the reason. */
export function readNotStandalone(): readonly NotStandalone[] {
  return JSON.parse(readFileSync(NOT_STANDALONE, 'utf8'));
}

const TOKEN_VOLUME = 'kube-api-access-';
const TOKEN_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';
const SERVICE_VARIABLE = /^(KUBERNETES|WEB_FRONT)_(SERVICE|PORT)(_|=)/;
/**
 * Files that pods make on the node. They must not be the machine's, so each world has a directory for them; as on the recorded
 * node, mounts there are not shared with anybody.
 */
const NODE_FILES = '/var/tmp/golden-';
export const nodeFilesDirectory = (worldDirectory: string): string => `${worldDirectory}/private`;

const isToken = ({ name }: { readonly name: string }): boolean => name.startsWith(TOKEN_VOLUME);

/** Files that a pod makes on the node go into a directory of the world. */
export function inWorld<T>(value: T, worldDirectory: string): T {
  return JSON.parse(JSON.stringify(value).replaceAll(NODE_FILES, `${nodeFilesDirectory(worldDirectory)}/golden-`));
}

/** The UID stays: the same pod on both sides. The name gets the node's name at its end, as every static pod's does. */
export function manifestOf({ pod }: RecordedLife, worldDirectory: string): object {
  const { name, namespace, uid, labels, annotations } = pod.metadata;
  const manifest = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid, labels, annotations },
    spec: standaloneSpec(pod.spec),
  };
  return inWorld(manifest, worldDirectory);
}

function standaloneSpec(spec: Pod['spec']): object {
  const {
    serviceAccountName: _name,
    serviceAccount: _old,
    nodeName: _node,
    ...rest
  } = spec as Pod['spec'] & {
    readonly serviceAccount?: string;
  };
  return {
    ...rest,
    volumes: (spec.volumes ?? []).filter((volume) => !isToken(volume)),
    containers: spec.containers.map(withoutToken),
    ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(withoutToken) }),
  };
}

function withoutToken(container: Container): Container {
  return { ...container, volumeMounts: (container.volumeMounts ?? []).filter((mount) => !isToken(mount)) };
}

/** Gives the paths of a world the names they have in the recording. */
export function recordedPaths(text: string, worldDirectory: string): string {
  const directory = nodeFilesDirectory(worldDirectory);
  return text
    .replaceAll(`${directory}/golden-`, NODE_FILES)
    .replaceAll(`mounted on \\"${directory}\\"`, 'mounted on \\"/\\"');
}

export function standaloneLife(life: RecordedLife): RecordedLife {
  return {
    ...life,
    statuses: life.statuses.map((one) => ({ ...one, status: withoutApiFields(one.status) })),
    cri: life.cri.map((call) => ({ ...call, req: withoutApiRequests(call.req) })),
    files: life.files && withoutTokenFiles(life.files),
    inside: Object.fromEntries(Object.entries(life.inside ?? {}).map(([name, one]) => [name, withoutServices(one)])),
  };
}

/** The recording as it is, but for what is the machine's. */
export function clusterLife(life: RecordedLife): RecordedLife {
  const machine = readFileSync('/etc/hosts', 'utf8');
  const inside = Object.entries(life.inside ?? {}).map(
    ([name, one]) => [name, { ...one, hosts: withHostsOf(machine, one.hosts) }] as const,
  );
  return { ...life, inside: Object.fromEntries(inside) };
}

/** A static pod has no generation, and its containers no token. */
function withoutApiFields<T>(status: T): T {
  return JSON.parse(JSON.stringify(status), (key, value: unknown) => {
    if (key === 'observedGeneration') return undefined;
    if (key !== 'volumeMounts' || !Array.isArray(value)) return value;
    const mounts = value.filter((mount) => !isToken(mount));
    return mounts.length === 0 ? undefined : mounts;
  });
}

/** A static pod's containers have no token mounted and no variables about services. */
function withoutApiRequests(request: RecordedCall['req']): RecordedCall['req'] {
  return JSON.parse(JSON.stringify(request), (key, value: unknown) => {
    if (!Array.isArray(value)) return value;
    if (key === 'mounts') return value.filter(({ container_path: path }) => path !== TOKEN_DIRECTORY);
    if (key === 'envs') return value.filter(({ key: name }) => !SERVICE_VARIABLE.test(`${name}=`));
    return value;
  });
}

/** Also the directories that are there only for the token. */
function withoutTokenFiles(files: readonly RecordedFile[]): readonly RecordedFile[] {
  const rest = files.filter(([path = '']) => !path.includes(TOKEN_VOLUME));
  const forToken = ['volumes/kubernetes.io~projected', 'plugins/kubernetes.io~empty-dir'];
  const isEmpty = (directory: string) => !rest.some(([path = '']) => path.startsWith(`${directory}/`));
  return rest.filter(([path = '']) => !(forToken.includes(path) && isEmpty(path)));
}

/** Pods on the node's network see the hosts file of the node, which in a world is the machine's. */
const withHostsOf = (machine: string, hosts: string): string => hosts.replace(nodeHostsFile, () => machine);

function withoutServices(inside: RecordedInside): RecordedInside {
  return {
    ...inside,
    hosts: withHostsOf(readFileSync('/etc/hosts', 'utf8'), inside.hosts),
    env: inside.env.filter((line) => !SERVICE_VARIABLE.test(line)),
    mounts: inside.mounts.filter((line) => !line.includes(` ${TOKEN_DIRECTORY} `)),
  };
}
