/** Waiting for an object of the API to be as a test wants it: by watching it, not by asking again and again. */
import type { Api, ApiObject } from './api.ts';

export interface WaitedFor {
  /** Path of the collection. */
  readonly collection: string;
  readonly name: string;
  /** For the error text: what it did not become. */
  readonly what: string;
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 60_000;

export async function waitForObject(
  api: Api,
  wanted: WaitedFor,
  isDone: (object: ApiObject) => boolean,
): Promise<ApiObject> {
  const timeoutMs = wanted.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const path = `${wanted.collection}?fieldSelector=metadata.name%3D${wanted.name}`;
  const deadline = AbortSignal.timeout(timeoutMs);
  let last: ApiObject | undefined;
  try {
    for await (const { type, object } of api.watch(path, deadline)) {
      if (type === 'ERROR') throw new Error(`the server ended the watch: ${JSON.stringify(object)}`);
      if (type === 'ADDED' || type === 'MODIFIED') last = object;
      if (last !== undefined && isDone(last)) return last;
    }
    throw new Error('the server closed the watch');
  } catch (cause) {
    const seen = last === undefined ? 'it was never seen' : `last seen: ${JSON.stringify(last.status ?? last)}`;
    const why = deadline.aborted ? `within ${timeoutMs} ms` : 'before the watch failed';
    throw new Error(`${wanted.collection}/${wanted.name} did not become ${wanted.what} ${why}; ${seen}`, { cause });
  }
}

/** A DELETED event, or nothing there at all. */
export async function waitUntilGone(
  api: Api,
  collection: string,
  name: string,
  timeoutMs = DEFAULT_TIMEOUT_MS,
): Promise<void> {
  const list = await api.get(`${collection}?fieldSelector=metadata.name%3D${name}`);
  const items = list['items'] as readonly unknown[];
  if (items.length === 0) return;
  const path = `${collection}?fieldSelector=metadata.name%3D${name}&resourceVersion=${list.metadata?.resourceVersion}`;
  try {
    for await (const { type } of api.watch(path, AbortSignal.timeout(timeoutMs))) if (type === 'DELETED') return;
  } catch (cause) {
    throw new Error(`${collection}/${name} was not gone within ${timeoutMs} ms`, { cause });
  }
  throw new Error(`${collection}/${name}: the server closed the watch before it was gone`);
}
