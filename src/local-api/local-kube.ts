/** The kubelet's own access to the local API: the same requests and watches as to an API server, without a connection in between. */
import type { ApiPath } from '../api/api-path.ts';
import type { Logger } from '../base/logger.ts';
import type { Kube, KubeClient, KubeObject, KubeRequest, WatchListener, WatchRequest } from '../kube/kube.ts';
import { refusalError } from '../kube/rules/answers.ts';
import type { Api } from './api.ts';
import type { Caller } from './rules/access.ts';
import type { ApiObject } from './rules/objects.ts';
import { type Target, targetOf } from './rules/target.ts';
import type { Store } from './store.ts';
import { eventOf, matcherOf } from './watches.ts';

export interface LocalKubeDeps {
  readonly log: Logger;
  readonly api: Api;
  readonly store: Store;
  /** Settles when the store knows its objects: before, a list would say that there are none. */
  readonly opened: Promise<void>;
}

const PATCH_TYPES = {
  strategic: 'application/strategic-merge-patch+json',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
} as const;

export function createLocalKube(deps: LocalKubeDeps, { nodeName }: { readonly nodeName: string }): Kube {
  const caller: Caller = { name: `system:node:${nodeName}`, groups: ['system:nodes'], role: 'node' };
  const client: KubeClient = {
    request: <Answer>(request: KubeRequest, signal: AbortSignal) =>
      ask(deps.api, caller, request, signal) as Promise<Answer>,
  };
  return {
    name: 'access to the local API',
    start: () => undefined,
    general: client,
    events: client,
    reviews: client,
    heartbeats: client,
    watch: (request) => createLocalWatch(deps, request),
    refreshCredentials: () => Promise.resolve(),
    reconnect: () => undefined,
    // It is never away.
    onBack: () => () => undefined,
    server: 'local API',
  };
}

async function ask(api: Api, caller: Caller, request: KubeRequest, signal: AbortSignal): Promise<unknown> {
  signal.throwIfAborted();
  const { method, path, query = {}, patch = 'strategic', body } = request;
  const answer = await api.handle({
    method,
    path: decodeURIComponent(path),
    query: new URLSearchParams(query),
    // A copy, as over a connection: fields that are undefined go, and no one shares what is kept.
    body: body === undefined ? undefined : JSON.parse(JSON.stringify(body)),
    type: method === 'PATCH' ? PATCH_TYPES[patch] : 'application/json',
    accept: 'application/json',
    caller,
  });
  if (answer.kind !== 'answer') return undefined;
  if (answer.status < 400) return answer.body;
  const what = `${method} ${path}`;
  throw refusalError({ what, httpStatus: answer.status, body: JSON.stringify(answer.body), retryAfterMs: undefined });
}

function createLocalWatch<T extends KubeObject>({ log, store, opened }: LocalKubeDeps, request: WatchRequest<T>) {
  const { path } = request;
  let stop: (() => void) | undefined;
  const call = (what: keyof WatchListener<T>, object: unknown): void => {
    try {
      request.listener[what](object as T & readonly T[]);
    } catch (err) {
      log.error('Failed to process watch event', { path, what, err });
    }
  };
  const begin = (): void => {
    const target = readTarget(path);
    // Kinds that need a control plane, such as services: there are none.
    if (target?.kind !== 'resource') {
      call('replaced', []);
      return;
    }
    const { resource, namespace } = target;
    const matches = matcherOf({ resource, namespace, query: queryOf(request) });
    const { plural } = resource;
    call('replaced', store.list(plural, namespace).filter(matches));
    stop = store.watch(store.revision(), (change) => {
      const event = eventOf(change, plural, matches);
      if (event !== undefined) call(event.type === 'DELETED' ? 'removed' : 'changed', event.object satisfies ApiObject);
    });
  };
  let isOver = false;
  return {
    name: `watch of ${path}`,
    // As with a server, the list comes after the start.
    start: () => void opened.then(() => void (isOver || begin())),
    stop: () => {
      isOver = true;
      stop?.();
    },
  };
}

function readTarget(path: ApiPath): Target | undefined {
  try {
    return targetOf(decodeURIComponent(path));
  } catch {
    return undefined; // a group that only a control plane has
  }
}

function queryOf<T extends KubeObject>({ fieldSelector, labelSelector }: WatchRequest<T>): URLSearchParams {
  return new URLSearchParams({ ...(fieldSelector && { fieldSelector }), ...(labelSelector && { labelSelector }) });
}
