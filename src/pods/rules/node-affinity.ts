/** Does a node match the node selector and the required node affinity of a pod? */
import type { StringMap } from '../../api/meta.ts';
import type { NodeSelectorRequirement, NodeSelectorTerm, Pod } from '../../api/pod.ts';

export interface SelectableNode {
  readonly name: string;
  readonly labels: StringMap;
}

export function matchesNode(pod: Pod, node: SelectableNode): boolean {
  const { nodeSelector = {}, affinity } = pod.spec;
  if (Object.entries(nodeSelector).some(([key, value]) => node.labels[key] !== value)) return false;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || (required.nodeSelectorTerms ?? []).some((term) => matchesTerm(term, node));
}

/** All requirements of a term; a term without any matches nothing. */
function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: SelectableNode): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((expression) => matchesLabels(expression, node.labels)) &&
    matchFields.every((expression) => matchesField(expression, node))
  );
}

/** An invalid requirement (no values, not a number) matches nothing. */
function matchesLabels({ key, operator, values = [] }: NodeSelectorRequirement, labels: StringMap): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return values.length > 0 && (value === undefined || !values.includes(value));
    case 'Exists':
      return values.length === 0 && value !== undefined;
    case 'DoesNotExist':
      return values.length === 0 && value === undefined;
    case 'Gt':
    case 'Lt':
      return values.length === 1 && isBeyond(operator, value, values[0]);
    default:
      return false;
  }
}

function isBeyond(operator: 'Gt' | 'Lt', value: string | undefined, bound: string | undefined): boolean {
  const [own, other] = [wholeNumber(value), wholeNumber(bound)];
  if (own === undefined || other === undefined) return false;
  return operator === 'Gt' ? own > other : own < other;
}

export function wholeNumber(text: string | undefined): bigint | undefined {
  return text !== undefined && /^[+-]?\d+$/.test(text) ? BigInt(text.replace(/^\+/, '')) : undefined;
}

/** The only field of a node is its name, and a requirement has exactly one value. */
function matchesField({ key, operator, values = [] }: NodeSelectorRequirement, node: SelectableNode): boolean {
  const own = key === 'metadata.name' ? node.name : '';
  if (values.length !== 1) return false;
  if (operator === 'In') return own === values[0];
  return operator === 'NotIn' && own !== values[0];
}
