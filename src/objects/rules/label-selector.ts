/** Whether labels match a selector. No selector matches nothing; an empty one matches everything. */
import type { LabelSelector, LabelSelectorRequirement, StringMap } from '../../api/meta.ts';

export function matchesLabels(selector: LabelSelector | undefined, labels: StringMap = {}): boolean {
  if (selector === undefined) return false;
  const equal = Object.entries(selector.matchLabels ?? {});
  return (
    equal.every(([key, value]) => labelValue(labels, key) === value) &&
    (selector.matchExpressions ?? []).every((requirement) => fits(requirement, labels))
  );
}

const labelValue = (labels: StringMap, key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined);

function fits({ key, operator, values = [] }: LabelSelectorRequirement, labels: StringMap): boolean {
  const value = labelValue(labels, key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}
