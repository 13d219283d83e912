/** Pods as the API server would complete, check and update them, with this node in place of the scheduler. */
import { type FieldError, forbidden, invalid } from '../../api/field-error.ts';
import type { Pod, PodSpec } from '../../api/pod.ts';
import { applyPodDefaults } from '../../api/pod-defaults.ts';
import type { PodGates } from '../../api/pod-gates.ts';
import { isMirrorPod } from '../../api/pod-traits.ts';
import { validatePod } from '../../api/pod-validation.ts';
import { computeQosClass } from '../../api/qos-class.ts';
import { sameJson } from '../../base/same-json.ts';
import { type ApiObject, mapOf } from './objects.ts';
import { checkResize } from './pod-resize.ts';

export interface PodContext {
  readonly nodeName: string;
  readonly gates: PodGates;
}

/** The priorities of the classes that every cluster has. */
const PRIORITIES: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};
const NAMED_SERVICE_ACCOUNT = 'default';

/** With a context: a new pod, which gets what admission and the scheduler give. */
export function completePod(object: ApiObject, context: PodContext | undefined): ApiObject {
  const spec = mapOf(object.spec);
  const listed = { ...spec, containers: Array.isArray(spec['containers']) ? spec['containers'] : [] };
  const pod = applyPodDefaults({ ...object, spec: listed } as unknown as Pod);
  if (context === undefined) return pod as unknown as ApiObject;
  const { priorityClassName = '', serviceAccountName } = pod.spec;
  // No token is mounted: there is no one who would issue it.
  const account = serviceAccountName || (isMirrorPod(pod) ? undefined : NAMED_SERVICE_ACCOUNT);
  const placed: PodSpec = {
    ...pod.spec,
    nodeName: pod.spec.nodeName || context.nodeName,
    priority:
      pod.spec.priority ?? (Object.hasOwn(PRIORITIES, priorityClassName) ? PRIORITIES[priorityClassName] : 0) ?? 0,
    ...(account && { serviceAccountName: account, serviceAccount: account }),
  };
  const qosClass = computeQosClass({ ...pod, spec: placed }, { podLevel: context.gates.podLevelResources });
  return { ...pod, spec: placed, status: { phase: 'Pending', qosClass } } as unknown as ApiObject;
}

export function validateNewPod(object: ApiObject, { nodeName, gates }: PodContext): readonly FieldError[] {
  const pod = object as unknown as Pod;
  const faults = validatePod(pod, gates);
  if (pod.spec.nodeName === nodeName) return faults;
  const text = `this node is ${JSON.stringify(nodeName)}, and there is no control plane for other nodes`;
  return [...faults, invalid('spec.nodeName', pod.spec.nodeName, text)];
}

export interface PodUpdate {
  readonly part: 'whole' | 'status' | 'ephemeralcontainers' | 'resize';
  readonly context: PodContext;
}

const UPDATE_RULE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

export function checkPodUpdate(
  current: ApiObject,
  next: ApiObject,
  { part, context }: PodUpdate,
): readonly FieldError[] {
  const before = (current as unknown as Pod).spec;
  const after = (next as unknown as Pod).spec;
  const faults = validateWithEphemeral(next as unknown as Pod, context.gates);
  if (faults.length > 0) return faults;
  if (part === 'ephemeralcontainers') return checkEphemeral(before, after);
  if (part === 'resize') {
    const podLevel = context.gates.podLevelResources;
    return checkResize(current as unknown as Pod, next as unknown as Pod, { podLevel });
  }
  return [...checkDeadline(before, after), ...checkTolerations(before, after), ...checkRest(before, after)];
}

/** Ephemeral containers come only by an update; what they may say is what a container may. */
function validateWithEphemeral(pod: Pod, gates: PodGates): readonly FieldError[] {
  const { ephemeralContainers = [], ...spec } = pod.spec;
  const count = spec.containers.length;
  const ephemeral = ephemeralContainers.map(({ targetContainerName: _, ...container }) => container);
  const faults = validatePod({ ...pod, spec: { ...spec, containers: [...spec.containers, ...ephemeral] } }, gates);
  return faults.map((fault) => {
    const [whole, index, rest] = /^spec\.containers\[(\d+)\](.*)$/s.exec(fault.path) ?? [];
    if (whole === undefined || Number(index) < count) return fault;
    return { ...fault, path: `spec.ephemeralContainers[${Number(index) - count}]${rest}` };
  });
}

function checkEphemeral(before: PodSpec, after: PodSpec): readonly FieldError[] {
  const path = 'spec.ephemeralContainers';
  const next = new Map((after.ephemeralContainers ?? []).map((container) => [container.name, container]));
  return (before.ephemeralContainers ?? []).flatMap((container) => {
    const kept = next.get(container.name);
    if (kept === undefined)
      return [forbidden(path, `existing ephemeral containers ${JSON.stringify(container.name)} may not be removed\n`)];
    if (sameJson(kept, container)) return [];
    return [forbidden(path, `existing ephemeral containers ${JSON.stringify(container.name)} may not be changed\n`)];
  });
}

function checkDeadline(
  { activeDeadlineSeconds: before }: PodSpec,
  { activeDeadlineSeconds: after }: PodSpec,
): readonly FieldError[] {
  const path = 'spec.activeDeadlineSeconds';
  if (before === after || before === undefined) return [];
  if (after === undefined)
    return [invalid(path, after ?? null, 'must not update from a positive integer to nil value')];
  return after > before ? [invalid(path, after, `must be less than or equal to previous value`)] : [];
}

function checkTolerations(
  { tolerations: before = [] }: PodSpec,
  { tolerations: after = [] }: PodSpec,
): readonly FieldError[] {
  const isKept = before.every((one) => after.some((other) => sameJson(one, other)));
  return isKept
    ? []
    : [forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}

/** Everything that may not change, from the pod as it was. */
function checkRest(before: PodSpec, after: PodSpec): readonly FieldError[] {
  const images = (lists: PodSpec['containers'] = [], others: PodSpec['containers'] = []) =>
    lists.map((container, index) => {
      const other = others[index];
      return other?.name === container.name && other.image !== undefined
        ? { ...container, image: other.image }
        : container;
    });
  const { activeDeadlineSeconds: _, tolerations: _tolerations, ...fixed } = before;
  const { activeDeadlineSeconds, tolerations } = after;
  const allowed: PodSpec = {
    ...fixed,
    containers: images(before.containers, after.containers),
    ...(before.initContainers && { initContainers: images(before.initContainers, after.initContainers) }),
    ...(activeDeadlineSeconds !== undefined && { activeDeadlineSeconds }),
    ...(tolerations !== undefined && { tolerations }),
  };
  if (sameJson(allowed, after)) return [];
  const fields = [...new Set([...Object.keys(allowed), ...Object.keys(after)])].filter(
    (name) => !sameJson(mapOf(allowed)[name] ?? null, mapOf(after)[name] ?? null),
  );
  return [forbidden('spec', `${UPDATE_RULE}\nchanged: ${fields.map((name) => `spec.${name}`).join(', ')}`)];
}
