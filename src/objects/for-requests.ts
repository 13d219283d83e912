/** Objects in the form that requests to the runtime need. */
import type { ConfigMap, Secret } from '../api/referenced-objects.ts';
import { describeError } from '../base/errors.ts';
import type { ObjectsPort } from '../runtime/ports.ts';
import type { ObjectAnswer, Objects } from './objects.ts';

export type RequestedObjects = Pick<Objects, 'services' | 'awaitServices' | 'configMap' | 'secret' | 'runtimeHandler'>;

/** `objects` undefined: a kubelet without an API server. */
export function objectsForRequests(objects: RequestedObjects | undefined): ObjectsPort {
  if (objects === undefined) return NO_OBJECTS;
  return {
    services: (wait, signal) => (wait ? objects.awaitServices(signal) : Promise.resolve(objects.services())),
    configMap: (namespace, name, signal) => dataOf(objects.configMap(namespace, name, signal), textData, signal),
    secret: (namespace, name, signal) => dataOf(objects.secret(namespace, name, signal), secretData, signal),
    runtimeHandler: objects.runtimeHandler,
  };
}

type ObjectData = Awaited<ReturnType<ObjectsPort['configMap']>>;
type Values = Extract<ObjectData, { kind: 'found' }>['data'];

async function dataOf<T>(
  answer: Promise<ObjectAnswer<T>>,
  read: (object: T) => Values,
  signal: AbortSignal,
): Promise<ObjectData> {
  try {
    const found = await answer;
    return found.kind === 'found' ? { kind: 'found', data: read(found.object) } : found;
  } catch (error) {
    signal.throwIfAborted();
    return { kind: 'failed', message: describeError(error) };
  }
}

/** Variables come only from the text of a config map (`data`). */
const textData = ({ data = {} }: ConfigMap): ReadonlyMap<string, string> => new Map(Object.entries(data));

export const secretData = ({ data = {} }: Secret): ReadonlyMap<string, Uint8Array> =>
  new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64')]));

/** Without an API server there is no object, and each answer names the requested one. */
const NO_OBJECTS: ObjectsPort = {
  services: () => Promise.resolve([]),
  configMap: (_, name) => Promise.resolve({ kind: 'missing', message: `configmap "${name}" not found` }),
  secret: (_, name) => Promise.resolve({ kind: 'missing', message: `secret "${name}" not found` }),
  runtimeHandler: (name) => Promise.resolve({ ok: false, problem: `RuntimeClass "${name}" not found` }),
};
