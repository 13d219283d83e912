/** Which nodes and which neighbours a pod wants. */
import type { LabelSelector } from '../meta.ts';
import { labelKeyFault, labelValueFault } from '../names.ts';
import type { Affinity, NodeSelectorRequirement, NodeSelectorTerm } from '../pod.ts';
import { type Faults, repeated } from './faults.ts';
import { checkLabels } from './metadata.ts';
import { dnsLabel, dnsSubdomain } from './text-rules.ts';

export function checkAffinity(affinity: Affinity, path: string, faults: Faults): void {
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
  if (nodeAffinity !== undefined) checkNodeAffinity(nodeAffinity, `${path}.nodeAffinity`, faults);
  if (podAffinity !== undefined) checkPodAffinity(podAffinity, `${path}.podAffinity`, faults);
  if (podAntiAffinity !== undefined) checkPodAffinity(podAntiAffinity, `${path}.podAntiAffinity`, faults);
}

type NodeAffinity = NonNullable<Affinity['nodeAffinity']>;

function checkNodeAffinity(affinity: NodeAffinity, path: string, faults: Faults): void {
  const {
    requiredDuringSchedulingIgnoredDuringExecution: needed,
    preferredDuringSchedulingIgnoredDuringExecution: liked,
  } = affinity;
  if (needed !== undefined) {
    const at = `${path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
    const terms = needed.nodeSelectorTerms ?? [];
    if (terms.length === 0) faults.required(at, 'must have at least one node selector term');
    terms.forEach((term, index) => {
      checkNodeTerm(term, `${at}[${index}]`, 'needed', faults);
    });
  }
  (liked ?? []).forEach(({ weight, preference }, index) => {
    const at = `${path}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    checkWeight(weight, at, faults);
    checkNodeTerm(preference ?? {}, `${at}.preference`, 'liked', faults);
  });
}

function checkWeight(weight: number | undefined, path: string, faults: Faults): void {
  const value = weight ?? 0;
  if (value < 1 || value > 100) faults.invalid(`${path}.weight`, value, 'must be in the range 1-100');
}

function checkNodeTerm(term: NodeSelectorTerm, path: string, kind: 'needed' | 'liked', faults: Faults): void {
  (term.matchExpressions ?? []).forEach((requirement, index) => {
    checkNodeRequirement(requirement, `${path}.matchExpressions[${index}]`, kind, faults);
  });
  (term.matchFields ?? []).forEach(({ key, operator, values = [] }, index) => {
    const at = `${path}.matchFields[${index}]`;
    if (operator !== 'In' && operator !== 'NotIn')
      faults.invalid(`${at}.operator`, operator ?? '', 'not a valid selector operator');
    else if (values.length !== 1) {
      faults.required(
        `${at}.values`,
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      );
    }
    if (key !== 'metadata.name') faults.invalid(`${at}.key`, key ?? '', 'not a valid field selector key');
    else faults.texts(`${at}.values`, values, dnsSubdomain);
  });
}

function checkNodeRequirement(
  { key, operator, values = [] }: NodeSelectorRequirement,
  path: string,
  kind: 'needed' | 'liked',
  faults: Faults,
): void {
  if (operator === 'Gt' || operator === 'Lt') {
    if (values.length !== 1) {
      faults.required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else checkSetOperator(operator, values, path, faults);
  faults.text(`${path}.key`, key ?? '', labelKeyFault);
  // A preference that no node can meet does no harm.
  if (kind === 'needed') {
    faults.texts(`${path}.values`, values, labelValueFault);
  }
}

function checkSetOperator(operator: string | undefined, values: readonly string[], path: string, faults: Faults): void {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0)
        faults.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
      return;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        faults.forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
      return;
    default:
      faults.invalid(`${path}.operator`, operator ?? '', 'not a valid selector operator');
  }
}

export function checkSelector(selector: LabelSelector | undefined, path: string, faults: Faults): void {
  checkLabels(selector?.matchLabels ?? {}, `${path}.matchLabels`, faults);
  (selector?.matchExpressions ?? []).forEach(({ key, operator, values = [] }, index) => {
    const at = `${path}.matchExpressions[${index}]`;
    checkSetOperator(operator, values, at, faults);
    faults.text(`${at}.key`, key ?? '', labelKeyFault);
    faults.texts(`${at}.values`, values, labelValueFault);
  });
}

export interface PodTerm {
  readonly labelSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly namespaces?: readonly string[];
  readonly topologyKey?: string;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly weight?: number;
    readonly podAffinityTerm?: PodTerm;
  }[];
}

function checkPodAffinity(raw: Readonly<Record<string, unknown>>, path: string, faults: Faults): void {
  const affinity = raw as PodAffinity;
  (affinity.requiredDuringSchedulingIgnoredDuringExecution ?? []).forEach((term, index) => {
    checkPodTerm(term, `${path}.requiredDuringSchedulingIgnoredDuringExecution[${index}]`, faults);
  });
  (affinity.preferredDuringSchedulingIgnoredDuringExecution ?? []).forEach(({ weight, podAffinityTerm }, index) => {
    const at = `${path}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    checkWeight(weight, at, faults);
    checkPodTerm(podAffinityTerm ?? {}, `${at}.podAffinityTerm`, faults);
  });
}

function checkPodTerm(term: PodTerm, path: string, faults: Faults): void {
  checkSelector(term.labelSelector, `${path}.labelSelector`, faults);
  checkSelector(term.namespaceSelector, `${path}.namespaceSelector`, faults);
  faults.texts(`${path}.namespaces`, term.namespaces ?? [], dnsLabel);
  checkLabelKeys(term, path, faults);
  if (!term.topologyKey) faults.required(`${path}.topologyKey`, 'can not be empty');
  else faults.text(`${path}.topologyKey`, term.topologyKey, labelKeyFault);
}

/** Keys whose values come from the pod itself: each once, and not also in the other list. */
export function checkLabelKeys(
  { matchLabelKeys = [], mismatchLabelKeys = [], labelSelector }: PodTerm,
  path: string,
  faults: Faults,
): void {
  for (const [field, keys] of [
    ['matchLabelKeys', matchLabelKeys],
    ['mismatchLabelKeys', mismatchLabelKeys],
  ] as const) {
    const again = repeated(keys);
    keys.forEach((key, index) => {
      const at = `${path}.${field}[${index}]`;
      faults.text(at, key, labelKeyFault);
      if (again.has(index)) faults.duplicate(at, key);
      if (labelSelector === undefined) faults.forbidden(at, 'must not be specified when labelSelector is not set');
    });
  }
  const others = new Set(mismatchLabelKeys);
  matchLabelKeys.forEach((key, index) => {
    if (others.has(key)) {
      faults.invalid(`${path}.matchLabelKeys[${index}]`, key, 'exists in both matchLabelKeys and mismatchLabelKeys');
    }
  });
}
