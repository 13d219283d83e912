/** Which taints of a node keep a pod from starting. */
import type { Taint } from '../../api/node.ts';
import type { Toleration } from '../../api/pod.ts';
import { wholeNumber } from './node-affinity.ts';

export interface TolerationOptions {
  /** The gate TaintTolerationComparisonOperators. */
  readonly comparison: boolean;
}

/** Only taints that end pods count here; the scheduler handles the others. */
export function untolerated(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  options: TolerationOptions,
): Taint | undefined {
  return taints
    .filter(({ effect }) => effect === 'NoExecute')
    .find((taint) => !tolerations.some((toleration) => tolerates(toleration, taint, options)));
}

export function tolerates(
  { key = '', operator = 'Equal', value = '', effect }: Toleration,
  taint: Taint,
  { comparison }: TolerationOptions,
): boolean {
  if (effect !== undefined && effect !== '' && effect !== taint.effect) return false;
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
