import type { KubeletConfiguration } from '../schema/kubelet-configuration.ts';

export type Change = {
  /** As in the configuration file: `logging.verbosity`. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
  /** Whether the running kubelet applies it, or only the next start. */
  readonly live: boolean;
};

/** The fields that a running kubelet can change. */
const livePaths: ReadonlySet<string> = new Set(['logging.verbosity', 'logging.vmodule']);

/** Shown instead of a secret. */
export const MASKED = '<masked>';

/** Headers contain secrets, and changes are logged. */
const secretPaths: ReadonlySet<string> = new Set(['staticPodURLHeader']);

/** What differs between two configurations, field by field; lists count as one value. */
export function diffKubeletConfigurations(before: KubeletConfiguration, after: KubeletConfiguration): Change[] {
  return diffValues('', before, after);
}

function diffValues(path: string, before: unknown, after: unknown): Change[] {
  if (secretPaths.has(path)) {
    return isSame(before, after) ? [] : [toChange(path, MASKED, MASKED)];
  }
  if (!isRecord(before) || !isRecord(after)) return isSame(before, after) ? [] : [toChange(path, before, after)];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => diffValues(path === '' ? key : `${path}.${key}`, before[key], after[key]));
}

function toChange(path: string, before: unknown, after: unknown): Change {
  return { path, before, after, live: livePaths.has(path) };
}

/** Both sides come from the same schema, so fields are in the same order; maps are compared key by key above. */
function isSame(before: unknown, after: unknown): boolean {
  return Object.is(before, after) || JSON.stringify(before) === JSON.stringify(after);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
