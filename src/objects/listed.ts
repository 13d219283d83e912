/** All objects of one kind, kept up to date by a watch, each reduced to the fields that are used. */
import type { ApiPath, FieldSelector } from '../api/api-path.ts';
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Kube, KubeObject } from '../kube/kube.ts';
import { createGate } from './gate.ts';

export interface Listed<V> extends Part {
  /** Undefined until the first list has come. */
  all(): ReadonlyMap<string, V> | undefined;
  /** Waits for the first list: undefined where it did not come in time. */
  first(ms: number, signal: AbortSignal): Promise<ReadonlyMap<string, V> | undefined>;
}

export interface ListedDeps {
  readonly clock: Clock;
  readonly kube: Pick<Kube, 'watch'>;
  readonly supervisor: Pick<Supervisor, 'guard'>;
}

export interface ListedConfig<T, V> {
  readonly path: ApiPath;
  readonly fieldSelector?: FieldSelector;
  readonly reduce: (object: T) => V;
  /** Called for each object that was added, changed or deleted; `first`: with the first list. */
  readonly onChange?: (value: V, first: boolean) => void;
}

/** By namespace/name, or by name. */
export function createListed<T extends KubeObject, V>(deps: ListedDeps, config: ListedConfig<T, V>): Listed<V> {
  const { path, fieldSelector, reduce, onChange } = config;
  const known = createGate(deps.clock);
  const objects = new Map<string, V>();
  /** An object that can't be read is left out; the others stay. */
  const each = (object: T, call: () => void): void => {
    deps.supervisor.guard(`list of ${path}`, { object: object.metadata?.name }, call);
  };
  const all = () => (known.isOpen ? objects : undefined);
  const watch = deps.kube.watch<T>({
    path,
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    inOne: true,
    listener: {
      replaced: (list) => {
        const first = !known.isOpen;
        const gone = new Map(objects);
        objects.clear();
        for (const object of list) each(object, () => objects.set(keyOf(object), reduce(object)));
        known.open();
        for (const key of objects.keys()) gone.delete(key);
        for (const value of [...gone.values(), ...objects.values()]) onChange?.(value, first);
      },
      changed: (object) => {
        const value = reduce(object);
        objects.set(keyOf(object), value);
        onChange?.(value, false);
      },
      removed: (object) => {
        objects.delete(keyOf(object));
        onChange?.(reduce(object), false);
      },
    },
  });
  return {
    name: `list of ${path}`,
    all,
    first: async (ms, signal) => {
      await known.wait(ms, signal);
      return all();
    },
    start: (signal) => watch.start(signal),
    stop: () => watch.stop?.(),
  };
}

function keyOf({ metadata: { namespace = '', name } }: KubeObject): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
