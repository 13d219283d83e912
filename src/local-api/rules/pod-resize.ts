/** `pods/resize`: other cpu and memory for the containers of a pod, and nothing else. */
import type { Container } from '../../api/container.ts';
import { type FieldError, forbidden, invalid } from '../../api/field-error.ts';
import type { Pod, PodSpec } from '../../api/pod.ts';
import { isMirrorPod } from '../../api/pod-traits.ts';
import { computeQosClass } from '../../api/qos-class.ts';
import { sameJson } from '../../base/same-json.ts';
import { mapOf } from './objects.ts';

type Resources = Container['resources'];
type Fields = Readonly<Record<string, unknown>>;

/** The spec as it is, with the resources that were given; whatever else was changed is left out, as by the API server. */
export function resizedSpec(current: PodSpec, given: unknown): PodSpec {
  const lists = mapOf(given);
  const next: PodSpec = { ...current, containers: resizedAll(current.containers, lists['containers']) };
  if (current.initContainers === undefined) return next;
  return { ...next, initContainers: resizedAll(current.initContainers, lists['initContainers']) };
}

function resizedAll(containers: readonly Container[], given: unknown): Container[] {
  const found = new Map((Array.isArray(given) ? given : []).map((one) => [mapOf(one)['name'], mapOf(one)]));
  return containers.map((container) => {
    const other = found.get(container.name);
    if (other === undefined) return container;
    const { resources: _, ...rest } = container;
    return other['resources'] === undefined ? rest : { ...rest, resources: other['resources'] as Resources & object };
  });
}

export function checkResize(
  before: Pod,
  after: Pod,
  { podLevel }: { readonly podLevel: boolean },
): readonly FieldError[] {
  if (isMirrorPod(before)) return [forbidden('', 'static pods cannot be resized')];
  const [was, is] = [computeQosClass(before, { podLevel }), computeQosClass(after, { podLevel })];
  const qos = was === is ? [] : [invalid('spec', is, 'Pod QOS Class may not change as a result of resizing')];
  const each = after.spec.containers.flatMap((container, index) =>
    checkContainer(
      before.spec.containers[index]?.resources,
      container.resources,
      `spec.containers[${index}].resources`,
    ),
  );
  return [...qos, ...each, ...checkInit(before.spec.initContainers, after.spec.initContainers)];
}

const MUTABLE: ReadonlySet<string> = new Set(['cpu', 'memory']);

function checkContainer(before: Resources, after: Resources, path: string): readonly FieldError[] {
  const faults = (['limits', 'requests'] as const).flatMap((list) => {
    const [was, is]: [Fields, Fields] = [before?.[list] ?? {}, after?.[list] ?? {}];
    const isRemoved = Object.keys(was).some((name) => MUTABLE.has(name) && is[name] === undefined);
    const fixed = (lists: Fields) => Object.fromEntries(Object.entries(lists).filter(([name]) => !MUTABLE.has(name)));
    return [
      ...(isRemoved ? [forbidden(`${path}.${list}`, `resource ${list} cannot be removed`)] : []),
      ...(sameJson(fixed(was), fixed(is)) ? [] : [forbidden('spec', 'only cpu and memory resources are mutable')]),
    ];
  });
  const claims = sameJson(before?.claims ?? [], after?.claims ?? []);
  return claims ? faults : [...faults, forbidden('spec', 'only cpu and memory resources are mutable')];
}

/** Containers that have ended can't be resized; sidecars can. */
function checkInit(before: readonly Container[] = [], after: readonly Container[] = []): readonly FieldError[] {
  return after.flatMap((container, index) => {
    const was = before[index]?.resources;
    const path = `spec.initContainers[${index}].resources`;
    if (container.restartPolicy === 'Always') return checkContainer(was, container.resources, path);
    if (sameJson(was ?? {}, container.resources ?? {})) return [];
    return [forbidden('spec', 'resources for non-sidecar init containers are immutable')];
  });
}
