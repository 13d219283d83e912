/** Watches of the local API: changes from a version on, filtered by selectors, with bookmarks. */
import type { ApiDeps, ResourceTarget } from './api.ts';
import type { Change } from './rules/history.ts';
import type { ApiObject } from './rules/objects.ts';
import { badRequest, expired } from './rules/refusal.ts';
import { groupVersion } from './rules/resources.ts';
import { type Matches, parseFieldSelector, parseLabelSelector } from './rules/selectors.ts';

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: unknown;
}

export interface WatchEvents {
  /** How long the watch lasts. */
  readonly timeoutMs: number;
  /** Whether the client wants to be told of versions without changes. */
  readonly bookmarks: boolean;
  bookmark(): WatchEvent;
  /** Delivers what there is at once, and then each change, until the function that it returns is called. */
  follow(listener: (event: WatchEvent) => void): () => void;
}

export interface WatchTarget extends Pick<ResourceTarget, 'resource' | 'namespace'> {
  readonly query: URLSearchParams;
  /** The form in which the client wants objects. */
  readonly shape: (object: ApiObject) => unknown;
}

const DEFAULT_SECONDS = 3600;
const LONGEST_SECONDS = 86_400;
const LIST_IS_WHOLE = { 'k8s.io/initial-events-end': 'true' };

export function matcherOf({
  resource,
  namespace,
  query,
}: Pick<WatchTarget, 'resource' | 'namespace' | 'query'>): Matches {
  const byLabel = parseLabelSelector(query.get('labelSelector') ?? '');
  const byField = parseFieldSelector(query.get('fieldSelector') ?? '', resource);
  return (object) =>
    (namespace === '' || object.metadata.namespace === namespace) && byLabel(object) && byField(object);
}

export function openWatch({ store }: Pick<ApiDeps, 'store'>, target: WatchTarget): WatchEvents {
  const { resource, namespace, query, shape } = target;
  const matches = matcherOf(target);
  const since = versionOf(query.get('resourceVersion'));
  const sendInitial = query.get('sendInitialEvents') === 'true';
  const seconds = secondsOf(query.get('timeoutSeconds'));
  const bookmark = (annotations?: object): WatchEvent => ({
    type: 'BOOKMARK',
    object: {
      kind: resource.kind,
      apiVersion: groupVersion(resource),
      metadata: {
        resourceVersion: String(store.revision()),
        creationTimestamp: null,
        ...(annotations && { annotations }),
      },
    },
  });
  // Without a version, or with any: what there is comes first.
  const wantsList = sendInitial || since === 0;
  const from = wantsList ? store.revision() : since;
  // A version that was lost with the power, or that another store gave: only a new list can help.
  if (from > store.revision()) throw expired(from, store.revision());
  const isKnown = store.watch(from, () => undefined);
  if (isKnown === undefined) throw expired(from, store.revision());
  isKnown();
  return {
    timeoutMs: seconds * 1000,
    bookmarks: query.get('allowWatchBookmarks') === 'true',
    bookmark: () => bookmark(),
    follow: (listener) => {
      const emit = (type: WatchEvent['type'], object: ApiObject) => listener({ type, object: shape(object) });
      const start = wantsList ? store.revision() : from;
      if (wantsList) {
        for (const object of store.list(resource.plural, namespace)) if (matches(object)) emit('ADDED', object);
        if (sendInitial) listener(bookmark(LIST_IS_WHOLE));
      }
      const stop = store.watch(start, (change) => {
        const event = eventOf(change, resource.plural, matches);
        if (event !== undefined) emit(event.type, event.object);
      });
      if (stop === undefined) throw expired(start, store.revision());
      return stop;
    },
  };
}

/** A change as this watch sees it: an object that no longer matches is gone for it. */
export function eventOf(
  { resource, before, after }: Change,
  plural: string,
  matches: Matches,
): { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: ApiObject } | undefined {
  if (resource !== plural) return undefined;
  const was = before !== undefined && matches(before);
  const is = after !== undefined && matches(after);
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', object: after };
  if (!was) return undefined;
  // The version is that of the change, so that the client resumes behind it.
  const version = (after ?? before).metadata.resourceVersion;
  return { type: 'DELETED', object: { ...before, metadata: { ...before.metadata, resourceVersion: version } } };
}

function versionOf(text: string | null): number {
  if (text === null || text === '') return 0;
  if (!/^\d{1,15}$/.test(text))
    throw badRequest(`Invalid value: ${JSON.stringify(text.slice(0, 100))}: resourceVersion must be a number`);
  return Number(text);
}

function secondsOf(text: string | null): number {
  if (text === null || text === '') return DEFAULT_SECONDS;
  if (!/^\d{1,9}$/.test(text))
    throw badRequest(`Invalid value: ${JSON.stringify(text.slice(0, 100))}: timeoutSeconds must be a number`);
  return Math.min(Number(text) || DEFAULT_SECONDS, LONGEST_SECONDS);
}
