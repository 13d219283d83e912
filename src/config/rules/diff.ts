import type { KubeletConfiguration } from '../schema/kubelet-configuration.ts';

export type Change = {
  /** As in the configuration file: `logging.verbosity`. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
  /** Whether the running kubelet applies it, or only the next start. */
  readonly live: boolean;
};

/** Shown instead of a secret. */
export const MASKED = '<masked>';

/** Headers contain secrets, and changes are logged. */
const secretPaths: ReadonlySet<string> = new Set(['staticPodURLHeader']);

/** What differs between two configurations, field by field; lists count as one value. */
export function diffKubeletConfigurations(
  before: KubeletConfiguration,
  after: KubeletConfiguration,
  isLive: (path: string) => boolean,
): Change[] {
  return diffValues('', before, after).map((change) => ({ ...change, live: isLive(change.path) }));
}

type Difference = Omit<Change, 'live'>;

function diffValues(path: string, before: unknown, after: unknown): Difference[] {
  if (secretPaths.has(path)) {
    return isSame(before, after) ? [] : [toChange(path, MASKED, MASKED)];
  }
  if (!isRecord(before) || !isRecord(after)) return isSame(before, after) ? [] : [toChange(path, before, after)];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => diffValues(path === '' ? key : `${path}.${key}`, before[key], after[key]));
}

const toChange = (path: string, before: unknown, after: unknown): Difference => ({ path, before, after });

/** Both sides come from the same schema, so fields are in the same order; maps are compared key by key above. */
function isSame(before: unknown, after: unknown): boolean {
  return Object.is(before, after) || JSON.stringify(before) === JSON.stringify(after);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
