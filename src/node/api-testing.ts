/** For tests of this directory: as much of an API server as a node needs, in memory. Tests with a real one are in tests/cluster. */
import type { KubeNode } from '../api/node.ts';
import { CodedError, type ErrorCode } from '../base/errors.ts';
import type { KubeClient, KubeRequest, WatchRequest } from '../kube/kube.ts';
import type { NodeKube } from './node.ts';
import { applyPatch, checkVersion, createFakeObject } from './objects-testing.ts';
import type { Lease } from './rules/lease.ts';

type ServerDate = { readonly serverAt: number; readonly ownAt: number };

export interface FakeApi {
  readonly kube: NodeKube;
  readonly requests: KubeRequest[];
  readonly reconnects: string[];
  node(): KubeNode | undefined;
  lease(): Lease | undefined;
  /** As an administrator or a controller would; watches are notified. */
  putNode(node: KubeNode): void;
  deleteNode(): void;
  putLease(lease: Lease | undefined): void;
  /** Refuses requests whose method and path contain `what`, such as `POST /api/v1/nodes`; undefined ends it. */
  refuse(what: string | undefined, code?: ErrorCode): void;
  setServerDate(date: ServerDate | undefined): void;
  /** Lets the connection come back. */
  back(): void;
  user: string;
  /** The node has no client certificate yet. */
  awaitsCertificate: boolean;
}

export function createFakeApi(): FakeApi {
  const objects = createFakeObjects();
  const front = createFakeFront((request) => {
    if (request.path.endsWith('/selfsubjectreviews')) return { status: { userInfo: { username: api.user } } };
    return objects.answer(request);
  });
  const api: FakeApi = {
    ...objects.control,
    ...front.control,
    user: 'system:node:web',
    awaitsCertificate: false,
    kube: { ...kubeOf(objects, front), awaitsCertificate: () => api.awaitsCertificate },
  };
  return api;
}

function kubeOf(objects: FakeObjects, front: FakeFront): NodeKube {
  return {
    general: front.client,
    heartbeats: front.client,
    watch: (asked) => ({ name: 'watch', start: () => objects.watch(asked as unknown as WatchRequest<KubeNode>) }),
    reconnect: (reason) => void front.control.reconnects.push(reason),
    onBack: front.onBack,
    serverDate: front.serverDate,
  };
}

type FakeObjects = ReturnType<typeof createFakeObjects>;
type FakeFront = ReturnType<typeof createFakeFront>;

/** What the server holds, who watches it, and how it answers requests for it. */
function createFakeObjects() {
  const watches: WatchRequest<KubeNode>[] = [];
  let version = 1;
  let created = 0;
  const nextVersion = () => {
    version += 1;
    return String(version);
  };
  const node = createFakeObject<KubeNode>('node', nextVersion);
  const lease = createFakeObject<Lease>('lease', nextVersion);

  const store = (next: KubeNode): KubeNode => {
    const stored = node.put(next);
    for (const { listener } of watches) listener.changed(stored);
    return stored;
  };
  const answerLease = (method: string, body: Lease): Lease => {
    if (method === 'GET') return lease.require();
    if (method === 'PUT') checkVersion(lease.require(), body);
    return lease.put(body);
  };
  const createNode = (body: KubeNode): KubeNode => {
    if (node.get() !== undefined) throw new CodedError('exists', 'nodes "web" already exists');
    created += 1;
    return store({ ...body, metadata: { ...body.metadata, uid: `uid-${created}` } });
  };
  return {
    answer: ({ method, path, body }: KubeRequest): unknown => {
      if (path.includes('/leases')) return answerLease(method, body as Lease);
      if (method === 'GET') return node.require();
      return method === 'PATCH' ? store(applyPatch(node.require(), body as never)) : createNode(body as KubeNode);
    },
    watch: (request: WatchRequest<KubeNode>) => {
      watches.push(request);
      const held = node.get();
      request.listener.replaced(held === undefined ? [] : [held]);
    },
    control: {
      node: node.get,
      lease: lease.get,
      putNode: (next: KubeNode) => void store(next),
      deleteNode: () => {
        const deleted = node.delete();
        if (deleted !== undefined) for (const { listener } of watches) listener.removed(deleted);
      },
      putLease: (next: Lease | undefined) => void (next === undefined ? lease.delete() : lease.put(next)),
    },
  };
}

/** Takes requests, remembers them, and refuses those that a test wants to fail. */
function createFakeFront(answer: (request: KubeRequest) => unknown) {
  const requests: KubeRequest[] = [];
  const reconnects: string[] = [];
  const backListeners = new Set<() => void>();
  let refused: { readonly what: string; readonly code: ErrorCode } | undefined;
  let date: ServerDate | undefined;

  const client: KubeClient = {
    request: <Answer>(request: KubeRequest) => {
      requests.push(request);
      const name = `${request.method} ${request.path}`;
      if (refused !== undefined && name.includes(refused.what))
        return Promise.reject(new CodedError(refused.code, `${name}: refused`));
      return new Promise<Answer>((resolve) => resolve(structuredClone(answer(request)) as Answer));
    },
  };
  return {
    client,
    onBack: (_name: string, listener: () => void) => {
      backListeners.add(listener);
      return () => void backListeners.delete(listener);
    },
    serverDate: () => date,
    control: {
      requests,
      reconnects,
      refuse: (what: string | undefined, code: ErrorCode = 'unavailable') => {
        refused = what === undefined ? undefined : { what, code };
      },
      setServerDate: (next: ServerDate | undefined) => {
        date = next;
      },
      back: () => {
        for (const listener of backListeners) listener();
      },
    },
  };
}
