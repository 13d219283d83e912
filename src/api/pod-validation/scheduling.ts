/** Where a pod wants to run and what it bears there. The scheduler's business, but a node looks at some of it too. */
import { labelKeyFault, labelValueFault } from '../names.ts';
import type { Pod, Toleration, TopologySpreadConstraint } from '../pod.ts';
import type { PodGates } from '../pod-gates.ts';
import { checkAffinity, checkLabelKeys, checkSelector, type PodTerm } from './affinity.ts';
import type { Faults } from './faults.ts';
import { checkLabels } from './metadata.ts';
import { dnsSubdomain } from './text-rules.ts';

const EFFECTS = ['NoExecute', 'NoSchedule', 'PreferNoSchedule'];
const INT64_MAX = 2n ** 63n - 1n;

export function checkScheduling({ spec }: Pod, gates: PodGates, faults: Faults): void {
  checkLabels(spec.nodeSelector ?? {}, 'spec.nodeSelector', faults);
  if (spec.affinity !== undefined) checkAffinity(spec.affinity, 'spec.affinity', faults);
  (spec.tolerations ?? []).forEach((toleration, index) => {
    checkToleration(toleration, `spec.tolerations[${index}]`, gates, faults);
  });
  checkSpread(spec.topologySpreadConstraints ?? [], faults);
  if (spec.schedulingGroup !== undefined) {
    faults.requiredText('spec.schedulingGroup.podGroupName', spec.schedulingGroup.podGroupName, dnsSubdomain);
  }
  const gatesOfPod = spec.schedulingGates ?? [];
  const names = gatesOfPod.map(({ name }) => name ?? '');
  faults.texts('spec.schedulingGates', names, labelKeyFault);
  faults.unique(
    gatesOfPod,
    ({ name }) => name,
    (index) => `spec.schedulingGates[${index}]`,
  );
  if (gatesOfPod.length > 0 && spec.nodeName) {
    faults.forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared');
  }
}

function checkToleration(toleration: Toleration, path: string, gates: PodGates, faults: Faults): void {
  const { key, operator, value = '', effect, tolerationSeconds } = toleration;
  faults.optionalText(`${path}.key`, key, labelKeyFault);
  if (!key && operator !== 'Exists') {
    const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    faults.invalid(`${path}.operator`, operator ?? '', detail);
  }
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    faults.invalid(`${path}.effect`, effect ?? '', "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  checkTolerationValue(operator, value, path, gates, faults);
  faults.oneOf(`${path}.effect`, effect, EFFECTS, 'optional');
}

function checkTolerationValue(
  operator: string | undefined,
  value: string,
  path: string,
  gates: PodGates,
  faults: Faults,
): void {
  if (!operator || operator === 'Equal') faults.text(`${path}.operator`, value, labelValueFault);
  else if (operator === 'Exists') {
    if (value) faults.invalid(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'");
  } else if (gates.tolerationComparisons && (operator === 'Lt' || operator === 'Gt')) {
    const isInteger =
      /^(?:0|-?[1-9][0-9]*)$/.test(value) && BigInt(value) <= INT64_MAX && BigInt(value) >= -INT64_MAX - 1n;
    if (!isInteger) faults.invalid(`${path}.value`, value, 'must be a decimal integer of 64 bits');
  } else {
    faults.unsupported(`${path}.operator`, operator, [
      'Equal',
      'Exists',
      ...(gates.tolerationComparisons ? ['Gt', 'Lt'] : []),
    ]);
  }
}

function checkSpread(constraints: readonly TopologySpreadConstraint[], faults: Faults): void {
  const kindOf = (one: TopologySpreadConstraint) => `{${one.topologyKey}, ${one.whenUnsatisfiable}}`;
  const last = new Map(constraints.map((constraint, index) => [kindOf(constraint), index]));
  constraints.forEach((constraint, index) => {
    const path = `spec.topologySpreadConstraints[${index}]`;
    const { maxSkew = 0, topologyKey, whenUnsatisfiable } = constraint;
    if (maxSkew <= 0) faults.invalid(`${path}.maxSkew`, maxSkew, 'must be greater than zero');
    if (!topologyKey) faults.required(`${path}.topologyKey`, 'can not be empty');
    const actions = ['DoNotSchedule', 'ScheduleAnyway'];
    if (!actions.includes(whenUnsatisfiable))
      faults.unsupported(`${path}.whenUnsatisfiable`, whenUnsatisfiable ?? '', actions);
    const kind = kindOf(constraint);
    // Of several, all but the last are named, as in the reference.
    if (last.get(kind) !== index) faults.duplicate(`${path}.{topologyKey, whenUnsatisfiable}`, kind);
    checkSpreadDetails(constraint, path, faults);
    checkLabelKeys(constraint as PodTerm, path, faults);
    checkSelector(constraint.labelSelector, `${path}.labelSelector`, faults);
  });
}

function checkSpreadDetails(constraint: TopologySpreadConstraint, path: string, faults: Faults): void {
  const minDomains = constraint['minDomains'] as number | undefined;
  if (minDomains !== undefined) {
    if (minDomains <= 0) faults.invalid(`${path}.minDomains`, minDomains, 'must be greater than zero');
    if (constraint.whenUnsatisfiable !== 'DoNotSchedule') {
      const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${constraint.whenUnsatisfiable ?? ''}`;
      faults.invalid(`${path}.minDomains`, minDomains, detail);
    }
  }
  for (const field of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
    const policy = constraint[field] as string | undefined;
    if (policy !== undefined) faults.oneOf(`${path}.${field}`, policy, ['Honor', 'Ignore'], 'required');
  }
}
