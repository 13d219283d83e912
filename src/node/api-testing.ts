/** For tests of this directory: as much of an API server as a node talks to, in memory. The real one is in tests/cluster. */
import type { KubeNode, NodeCondition } from '../api/node.ts';
import { CodedError, type ErrorCode } from '../base/errors.ts';
import type { KubeClient, KubeRequest, WatchRequest } from '../kube/kube.ts';
import type { NodeKube } from './node.ts';
import type { Lease } from './rules/lease.ts';

export interface FakeApi {
  readonly kube: NodeKube;
  readonly requests: KubeRequest[];
  readonly reconnects: string[];
  node(): KubeNode | undefined;
  lease(): Lease | undefined;
  /** As an administrator or a controller would, with the watch's news. */
  putNode(node: KubeNode): void;
  deleteNode(): void;
  putLease(lease: Lease | undefined): void;
  /** Refuses requests until it is told otherwise: `POST /api/v1/nodes` or a part of it. */
  refuse(what: string | undefined, code?: ErrorCode): void;
  setServerDate(date: { readonly serverAt: number; readonly ownAt: number } | undefined): void;
  back(): void;
  user: string;
}

export function createFakeApi(): FakeApi {
  const requests: KubeRequest[] = [];
  const reconnects: string[] = [];
  const watches: WatchRequest<KubeNode>[] = [];
  const backListeners = new Set<() => void>();
  let node: KubeNode | undefined;
  let lease: Lease | undefined;
  let version = 1;
  let made = 0;
  let refused: { readonly what: string; readonly code: ErrorCode } | undefined;
  let date: { readonly serverAt: number; readonly ownAt: number } | undefined;

  const store = (next: KubeNode): KubeNode => {
    version += 1;
    node = { ...next, metadata: { ...next.metadata, resourceVersion: String(version) } };
    for (const { listener } of watches) listener.changed(node);
    return node;
  };
  const found = <T>(value: T | undefined, what: string): T => {
    if (value === undefined) throw new CodedError('notFound', `${what} not found`);
    return value;
  };

  const answer = (request: KubeRequest): unknown => {
    const body = request.body as never;
    if (request.path.endsWith('/selfsubjectreviews')) return { status: { userInfo: { username: api.user } } };
    if (request.path.includes('/leases')) return answerLease(request, body);
    if (request.method === 'GET') return found(node, 'node');
    if (request.method === 'PATCH') return store(applyPatch(found(node, 'node'), body));
    if (node !== undefined) throw new CodedError('exists', 'nodes "web" already exists');
    made += 1;
    const wanted = body as KubeNode;
    return store({ ...wanted, metadata: { ...wanted.metadata, uid: `uid-${made}` } });
  };
  const answerLease = ({ method }: KubeRequest, body: Lease): Lease => {
    if (method === 'GET') return found(lease, 'lease');
    const base = method === 'PUT' ? found(lease, 'lease') : undefined;
    if (base !== undefined && base.metadata.resourceVersion !== body.metadata.resourceVersion)
      throw new CodedError('conflict', 'the object has been modified');
    version += 1;
    lease = { ...body, metadata: { ...body.metadata, resourceVersion: String(version) } };
    return lease;
  };

  const client: KubeClient = {
    request: <Answer>(request: KubeRequest) => {
      requests.push(request);
      const name = `${request.method} ${request.path}`;
      if (refused !== undefined && name.includes(refused.what))
        return Promise.reject(new CodedError(refused.code, `${name}: refused`));
      return new Promise<Answer>((resolve) => resolve(structuredClone(answer(request)) as Answer));
    },
  };

  const api: FakeApi = {
    kube: {
      general: client,
      heartbeats: client,
      watch: (asked) => ({
        name: 'watch',
        start: () => {
          const mine = asked as unknown as WatchRequest<KubeNode>;
          watches.push(mine);
          mine.listener.replaced(node === undefined ? [] : [node]);
        },
      }),
      reconnect: (reason) => void reconnects.push(reason),
      onBack: (_name, listener) => {
        backListeners.add(listener);
        return () => void backListeners.delete(listener);
      },
      serverDate: () => date,
    },
    requests,
    reconnects,
    node: () => node,
    lease: () => lease,
    putNode: (next) => void store(next),
    deleteNode: () => {
      const gone = node;
      node = undefined;
      if (gone !== undefined) for (const { listener } of watches) listener.removed(gone);
    },
    putLease: (next) => {
      version += 1;
      lease = next && { ...next, metadata: { ...next.metadata, resourceVersion: String(version) } };
    },
    refuse: (what, code = 'unavailable') => {
      refused = what === undefined ? undefined : { what, code };
    },
    setServerDate: (next) => {
      date = next;
    },
    back: () => {
      for (const listener of backListeners) listener();
    },
    user: 'system:node:web',
  };
  return api;
}

type Fields = Readonly<Record<string, unknown>>;

/** What a strategic merge patch of a node means: maps are merged, null removes, conditions are merged by type. */
function applyPatch(node: KubeNode, patch: Fields): KubeNode {
  return merge(node as unknown as Fields, patch) as unknown as KubeNode;
}

function merge(base: Fields, patch: Fields): Fields {
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith('$')) continue;
    if (value === null) delete result[key];
    else if (key === 'conditions') result[key] = mergeConditions(base[key], value);
    else if (Array.isArray(value)) result[key] = value.filter((item) => !('$patch' in Object(item)));
    else if (typeof value === 'object') result[key] = merge((base[key] ?? {}) as Fields, value as Fields);
    else result[key] = value;
  }
  return result;
}

function mergeConditions(base: unknown, patch: unknown): readonly NodeCondition[] {
  const conditions = [...((base ?? []) as NodeCondition[])];
  for (const change of patch as NodeCondition[]) {
    const index = conditions.findIndex(({ type }) => type === change.type);
    if (index < 0) conditions.push(change);
    else conditions[index] = { ...(conditions[index] as NodeCondition), ...change };
  }
  return conditions;
}
