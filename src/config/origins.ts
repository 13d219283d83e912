import type { Flag } from './flags/flag.ts';
import { MASKED } from './rules/diff.ts';
import type { Problem } from './rules/validate.ts';

/** Where a value came from. */
export type Origins = {
  /** `--max-pods`, `/etc/kubelet.yaml:12`, or `default`. */
  of(path: string): string;
};

export type OriginInput = {
  readonly given: ReadonlyMap<string, Flag>;
  readonly flagGates: Readonly<Record<string, boolean>>;
  readonly fileOriginOf: (path: string) => string | undefined;
};

export function createOrigins({ given, flagGates, fileOriginOf }: OriginInput): Origins {
  const flagOf = new Map<string, string>();
  for (const flag of given.values()) {
    // Gates of the flag and of the file are in one map: each is looked up separately below.
    if (flag.of === 'kubelet' && flag.name !== 'feature-gates') flagOf.set(flag.path, `--${flag.name}`);
  }
  for (const gate of Object.keys(flagGates)) flagOf.set(`featureGates.${gate}`, '--feature-gates');
  return Object.freeze({ of: (path: string) => nearestFlag(path, flagOf) ?? fileOriginOf(path) ?? 'default' });
}

/** The flag that set the field or its parent: `--eviction-hard` sets `evictionHard.memory.available`. */
function nearestFlag(path: string, flagOf: ReadonlyMap<string, string>): string | undefined {
  for (let part = path; part !== ''; part = part.slice(0, Math.max(part.lastIndexOf('.'), part.lastIndexOf('['), 0))) {
    const flag = flagOf.get(part);
    if (flag !== undefined) return flag;
  }
  return undefined;
}

/** One line: where the value came from, the field, the rule, and the value. */
export function formatProblem({ path, value, rule }: Problem, origins: Origins): string {
  const found = `${rule} (found ${showValue(path, value)})`;
  if (path.startsWith('--')) return `flag ${path}: ${found}`;
  const origin = origins.of(path);
  if (origin === 'default') return `${path}: ${found}`;
  return origin.startsWith('--') ? `flag ${origin}: ${path}: ${found}` : `${origin}: ${path}: ${found}`;
}

function showValue(path: string, value: unknown): string {
  if (path.startsWith('staticPodURLHeader')) return MASKED;
  if (value === undefined) return 'nothing';
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}
