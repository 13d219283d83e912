import type { KubeletConfiguration } from '../schema/kubelet-configuration.ts';
import type { Settings } from '../settings.ts';

/** Everything that flags set. */
export type Configurable = {
  readonly kubelet: KubeletConfiguration;
  readonly settings: Settings;
  readonly request: Request;
};

/** What the command should do instead of running. */
export type Request = {
  readonly help: boolean;
  /** `false`, `true` or `raw`; a custom version (`v1.36.4-mine`) is only reported instead of the built-in one. */
  readonly version: string;
};

export const noRequest: Request = { help: false, version: 'false' };

/** One field of it, with its type: the compiler finds a wrong name, and a kind of another type. */
export type Target<T> = {
  /** `kubelet` targets have a field path that users know from the configuration file. */
  readonly of: keyof Configurable;
  readonly path: string;
  get(from: Configurable): T;
  set(on: Configurable, value: T): Configurable;
};

type K = KubeletConfiguration;
type S = Settings;

export function field<A extends keyof K>(a: A): Target<K[A]>;
export function field<A extends keyof K, B extends keyof K[A]>(a: A, b: B): Target<K[A][B]>;
export function field<A extends keyof K, B extends keyof K[A], C extends keyof K[A][B]>(
  a: A,
  b: B,
  c: C,
): Target<K[A][B][C]>;
export function field<A extends keyof K, B extends keyof K[A], C extends keyof K[A][B], D extends keyof K[A][B][C]>(
  a: A,
  b: B,
  c: C,
  d: D,
): Target<K[A][B][C][D]>;
export function field(...path: string[]): Target<never> {
  return createTarget('kubelet', path);
}

export function setting<A extends keyof S, B extends keyof S[A]>(a: A, b: B): Target<S[A][B]>;
export function setting<A extends keyof S, B extends keyof S[A], C extends keyof S[A][B]>(
  a: A,
  b: B,
  c: C,
): Target<S[A][B][C]>;
export function setting(...path: string[]): Target<never> {
  return createTarget('settings', path);
}

export function request<A extends keyof Request>(a: A): Target<Request[A]> {
  return createTarget('request', [a]);
}

/** Only the typed functions above call it, so the path exists and its value has the right type. */
function createTarget<T>(of: keyof Configurable, path: readonly string[]): Target<T> {
  const fullPath = [of, ...path];
  return {
    of,
    path: path.join('.'),
    get: (from) => fullPath.reduce<unknown>((at, key) => (at as Branch)[key], from) as T,
    set: (on, value) => replaceAt(on, fullPath, value) as Configurable,
  };
}

type Branch = Readonly<Record<string, unknown>>;

function replaceAt(on: Branch, path: readonly string[], value: unknown): Branch {
  const [key, ...rest] = path;
  if (key === undefined) return on;
  return { ...on, [key]: rest.length === 0 ? value : replaceAt(on[key] as Branch, rest, value) };
}
