/** An API server for unit tests: answers requests from a function and lets a test drive the watches. */
import type { Part } from '../base/lifecycle.ts';
import type { KubeObject, KubeRequest, WatchListener, WatchRequest } from '../kube/kube.ts';

export interface FakeWatch {
  readonly path: string;
  readonly fieldSelector: string | undefined;
  readonly listener: WatchListener<KubeObject>;
  running: boolean;
}

export interface FakeKube {
  readonly requests: KubeRequest[];
  readonly watches: FakeWatch[];
  readonly general: { request<A>(request: KubeRequest, signal: AbortSignal): Promise<A> };
  watch<T extends KubeObject>(request: WatchRequest<T>): Part;
  /** The running watch of one object or one kind. */
  running(path: string, fieldSelector?: string): FakeWatch;
  runningPaths(): readonly string[];
}

export function createFakeKube(
  answer: (request: KubeRequest, signal: AbortSignal) => unknown = () => new Error('no request is expected'),
): FakeKube {
  const requests: KubeRequest[] = [];
  const watches: FakeWatch[] = [];
  const fake: FakeKube = {
    requests,
    watches,
    general: {
      request: async <A>(request: KubeRequest, signal: AbortSignal) => {
        requests.push(request);
        const made = await answer(request, signal);
        if (made instanceof Error) throw made;
        return made as A;
      },
    },
    watch: <T extends KubeObject>({ path, fieldSelector, listener }: WatchRequest<T>) => {
      const watch: FakeWatch = {
        path,
        fieldSelector,
        listener: listener as unknown as WatchListener<KubeObject>,
        running: false,
      };
      watches.push(watch);
      return {
        name: path,
        start: () => {
          watch.running = true;
        },
        stop: () => {
          watch.running = false;
        },
      };
    },
    running: (path, fieldSelector) => {
      const found = watches.find((one) => one.running && one.path === path && one.fieldSelector === fieldSelector);
      if (found === undefined) throw new Error(`no watch of ${path} ${fieldSelector ?? ''}`);
      return found;
    },
    runningPaths: () =>
      watches
        .filter(({ running }) => running)
        .map(({ path, fieldSelector }) => `${path} ${fieldSelector ?? ''}`.trim()),
  };
  return fake;
}
