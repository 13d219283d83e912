/** Waiting for an object of the API to be as a test wants it: by watching it, not by asking again and again. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Api, ApiObject } from './api.ts';

export interface WaitedFor {
  /** Path of the collection. */
  readonly collection: string;
  readonly name: string;
  /** For the error text: what it did not become. */
  readonly what: string;
  readonly timeoutMs?: number;
}

/** Far more than a busy machine needs: who waits does not measure how soon it comes. */
const DEFAULT_TIMEOUT_MS = 180_000;
/** Before a watch that ended is begun again: an API server may be on its way. */
const AGAIN_AFTER_MS = 200;

export async function waitForObject(
  api: Api,
  wanted: WaitedFor,
  isDone: (object: ApiObject) => boolean,
): Promise<ApiObject> {
  const timeoutMs = wanted.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const path = `${wanted.collection}?fieldSelector=metadata.name%3D${wanted.name}`;
  const deadline = AbortSignal.timeout(timeoutMs);
  let last: ApiObject | undefined;
  let problem: unknown;
  while (!deadline.aborted) {
    try {
      for await (const { type, object } of api.watch(path, deadline)) {
        if (type === 'ERROR') throw new Error(`the server ended the watch: ${JSON.stringify(object)}`);
        if (type === 'ADDED' || type === 'MODIFIED') last = object;
        if (last !== undefined && isDone(last)) return last;
      }
    } catch (cause) {
      problem = cause;
    }
    await delay(AGAIN_AFTER_MS);
  }
  const seen = last === undefined ? 'it was never seen' : `last seen: ${JSON.stringify(last.status ?? last)}`;
  const name = `${wanted.collection}/${wanted.name}`;
  throw new Error(`${name} did not become ${wanted.what} within ${timeoutMs} ms; ${seen}`, { cause: problem });
}

/** A DELETED event, or nothing there at all. */
export async function waitUntilGone(
  api: Api,
  collection: string,
  name: string,
  timeoutMs = DEFAULT_TIMEOUT_MS,
): Promise<void> {
  const deadline = AbortSignal.timeout(timeoutMs);
  let problem: unknown;
  while (!deadline.aborted) {
    const list = await api.get(`${collection}?fieldSelector=metadata.name%3D${name}`);
    const items = list['items'] as readonly unknown[];
    if (items.length === 0) return;
    const from = `resourceVersion=${list.metadata?.resourceVersion}`;
    const path = `${collection}?fieldSelector=metadata.name%3D${name}&${from}`;
    try {
      for await (const { type } of api.watch(path, deadline)) if (type === 'DELETED') return;
    } catch (cause) {
      problem = cause;
    }
    await delay(AGAIN_AFTER_MS);
  }
  throw new Error(`${collection}/${name} was not gone within ${timeoutMs} ms`, { cause: problem });
}
