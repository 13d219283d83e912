/**
 * The text of the file with the resources allocated to pods, in the form of the reference (`allocated_pods_state`): each kubelet goes
 * on with what the other has allocated.
 */
import type { ResourceRequirements } from '../../api/container.ts';
import type { ResourceList } from '../../api/meta.ts';
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import { fnv32a } from '../../base/fnv.ts';
import type { Allocation } from '../../model/allocation.ts';

type Fields = Readonly<Record<string, unknown>>;

export function encodeAllocations(allocations: ReadonlyMap<string, Allocation>): string {
  const entries = [...allocations].map(([uid, { containers, pod }]) => [
    uid,
    { ContainerResources: containers, PodLevelResources: pod ?? null },
  ]);
  const data = JSON.stringify({ entries: Object.fromEntries(entries) });
  return JSON.stringify({ data, checksum: checksumOf(data) });
}

export function decodeAllocations(text: string): Parsed<ReadonlyMap<string, Allocation>> {
  const outer = parseJson(text);
  if (!outer.ok) return outer;
  const { data, checksum } = fieldsOf(outer.value);
  if (typeof data !== 'string') return unparsable('data is not a string');
  if (checksum !== checksumOf(data)) return unparsable(`checksum ${String(checksum)} instead of ${checksumOf(data)}`);
  const inner = parseJson(data);
  if (!inner.ok) return inner;
  const allocations = new Map<string, Allocation>();
  for (const [uid, entry] of Object.entries(fieldsOf(fieldsOf(inner.value)['entries']))) {
    const { ContainerResources, PodLevelResources } = fieldsOf(entry);
    const containers = Object.entries(fieldsOf(ContainerResources)).map(([name, own]) => [name, resourcesIn(own)]);
    const pod = PodLevelResources === null || PodLevelResources === undefined ? undefined : PodLevelResources;
    allocations.set(uid, {
      containers: Object.fromEntries(containers),
      pod: pod === undefined ? undefined : resourcesIn(pod),
    });
  }
  return parsed(allocations);
}

/** Over the text as Go prints it with its type. */
function checksumOf(data: string): number {
  return fnv32a(`(string)${data}`);
}

function resourcesIn(value: unknown): ResourceRequirements {
  const { limits, requests, claims } = fieldsOf(value);
  return {
    ...(limits === undefined ? {} : { limits: listIn(limits) }),
    ...(requests === undefined ? {} : { requests: listIn(requests) }),
    ...(Array.isArray(claims) ? { claims } : {}),
  };
}

function listIn(value: unknown): ResourceList {
  return Object.fromEntries(Object.entries(fieldsOf(value)).map(([name, amount]) => [name, String(amount)]));
}

function parseJson(text: string): Parsed<unknown> {
  try {
    return parsed(JSON.parse(text));
  } catch (error) {
    return unparsable(`not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
