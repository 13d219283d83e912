/** Reads what the variables of a container come from: objects of the API server, and files on the pod's volumes. */
import { join } from 'node:path';
import { isStaticPod } from '../api/pod-traits.ts';
import { describeError } from '../base/errors.ts';
import type { ContainerRequestInput } from '../model/runtime-request.ts';
import type { ObjectsPort } from './ports.ts';
import { readEnvFile } from './spec/env-file.ts';
import { type EnvFile, type EnvironmentInput, environmentObjects, type ObjectData } from './spec/environment.ts';

export interface EnvironmentSources {
  readonly objects: ObjectsPort;
  /** The text of a file of a volume: never of one outside, whatever links a container has made there. */
  readonly readVolumeFile: (volumePath: string, file: string, signal: AbortSignal) => Promise<string>;
}

interface ReadObjects extends Pick<EnvironmentInput, 'services' | 'configMap' | 'secret'> {
  /** One of them could not be read: not the same as one that is missing. */
  readonly unread: boolean;
}

export async function readEnvironment(
  sources: EnvironmentSources,
  input: ContainerRequestInput,
  signal: AbortSignal,
): Promise<ReadObjects & Pick<EnvironmentInput, 'envFile'>> {
  const files = await readEnvFiles(sources, input, signal);
  const objects = await readObjects(sources, input, signal);
  return { ...objects, envFile: (volume, path) => files.get(fileKey(volume, path)) ?? { kind: 'no-volume' } };
}

/** The objects of the pod's namespace that its variables come from. */
async function readObjects(
  { objects }: EnvironmentSources,
  { pod, container }: ContainerRequestInput,
  signal: AbortSignal,
): Promise<ReadObjects> {
  const { namespace } = pod.metadata;
  const needed = environmentObjects(container);
  let unread = false;
  const readAll = async (names: readonly string[], read: ObjectsPort['secret']) => {
    const all = await Promise.all(names.map(async (name) => [name, await read(namespace, name, signal)] as const));
    const found = new Map(all);
    unread ||= all.some(([, { kind }]) => kind === 'failed');
    return (name: string): ObjectData => found.get(name) ?? { kind: 'missing', message: `object "${name}" not read` };
  };
  const [services, configMap, secret] = await Promise.all([
    objects.services(!isStaticPod(pod), signal),
    readAll(needed.configMaps, objects.configMap),
    readAll(needed.secrets, objects.secret),
  ]);
  return { services, configMap, secret, unread };
}

const fileKey = (volume: string, path: string) => `${volume}\n${path}`;

/** The files on the pod's volumes that its variables come from. */
async function readEnvFiles(
  { readVolumeFile }: EnvironmentSources,
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
