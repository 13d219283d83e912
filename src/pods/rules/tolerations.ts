/** Which taints of a node keep a pod out. */
import type { Toleration } from '../../api/pod.ts';
import { wholeNumber } from './node-affinity.ts';

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface TolerationOptions {
  /** The gate TaintTolerationComparisonOperators. */
  readonly comparison: boolean;
}

/** Only what ends pods keeps them from starting here; the rest is the scheduler's. */
export function untolerated(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  options: TolerationOptions,
): Taint | undefined {
  return taints
    .filter(({ effect }) => effect === 'NoExecute')
    .find((taint) => !tolerations.some((toleration) => tolerates(toleration, taint, options)));
}

function tolerates(
  { key = '', operator = 'Equal', value = '', effect }: Toleration,
  taint: Taint,
  { comparison }: TolerationOptions,
): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  switch (operator) {
    case 'Exists':
      return true;
    case 'Lt':
    case 'Gt': {
      const [bound, own] = [wholeNumber(value), wholeNumber(taint.value)];
      if (!comparison || bound === undefined || own === undefined) return false;
      return operator === 'Lt' ? own < bound : own > bound;
    }
    default:
      return value === (taint.value ?? '');
  }
}
