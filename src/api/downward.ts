/** The fields of a pod that it can read in its environment variables and files (the downward API). Error texts are those that users search for. */
import { quoteText } from '../base/go-text.ts';
import type { Container, ResourceFieldSelector } from './container.ts';
import type { ResourceList, StringMap } from './meta.ts';
import { labelKeyFault } from './names.ts';
import { type Parsed, parsed, unparsable } from './parsed.ts';
import type { Pod } from './pod.ts';
import { hasPodLevelLimits, isPodLevelResource, quantityOf } from './pod-resources.ts';
import { type Quantity, quantityMilliValue, quantityValue } from './quantity.ts';

export interface DownwardFacts {
  /** The node's addresses, the primary one first. */
  readonly hostIps: readonly string[];
  /** The pod's addresses, in the order in which its status shows them. */
  readonly podIps: readonly string[];
}

/** `metadata.labels['key']` as its two parts; undefined where nothing stands in brackets. */
export function splitSubscript(fieldPath: string): { readonly owner: string; readonly key: string } | undefined {
  const open = fieldPath.indexOf("['");
  if (open <= 0 || !fieldPath.endsWith("']") || fieldPath.length < open + 4) return undefined;
  return { owner: fieldPath.slice(0, open), key: fieldPath.slice(open + 2, -2) };
}

export function podFieldValue(pod: Pod, fieldPath: string, facts: DownwardFacts): Parsed<string> {
  const parts = splitSubscript(fieldPath);
  if (parts !== undefined) return subscripted(pod, { fieldPath, ...parts });
  const value = plainField(pod, fieldPath, facts);
  return value === undefined ? unparsable(`unsupported fieldPath: ${fieldPath}`) : parsed(value);
}

function plainField(pod: Pod, fieldPath: string, facts: DownwardFacts): string | undefined {
  switch (fieldPath) {
    case 'metadata.name':
      return pod.metadata.name;
    case 'metadata.namespace':
      return pod.metadata.namespace;
    case 'metadata.uid':
      return pod.metadata.uid;
    case 'metadata.labels':
      return mapText(pod.metadata.labels);
    case 'metadata.annotations':
      return mapText(pod.metadata.annotations);
    case 'spec.nodeName':
    case 'spec.host':
      return pod.spec.nodeName ?? '';
    case 'spec.serviceAccountName':
      return pod.spec.serviceAccountName ?? '';
    case 'status.hostIP':
      return facts.hostIps[0] ?? '';
    case 'status.hostIPs':
      return facts.hostIps.join(',');
    case 'status.podIP':
      return facts.podIps[0] ?? '';
    case 'status.podIPs':
      return facts.podIps.join(',');
    default:
      return undefined;
  }
}

interface Subscripted {
  readonly fieldPath: string;
  readonly owner: string;
  readonly key: string;
}

function subscripted(pod: Pod, { fieldPath, owner, key }: Subscripted): Parsed<string> {
  if (owner !== 'metadata.labels' && owner !== 'metadata.annotations') {
    return unparsable(`field label does not support subscript: ${fieldPath}`);
  }
  // Keys of annotations may have upper case in their prefix; those of labels may not.
  const isAnnotation = owner === 'metadata.annotations';
  const fault = labelKeyFault(isAnnotation ? key.toLowerCase() : key);
  if (fault !== undefined) return unparsable(`invalid key subscript in ${fieldPath}: ${fault}`);
  const map = isAnnotation ? pod.metadata.annotations : pod.metadata.labels;
  return parsed(map?.[key] ?? '');
}

function mapText(map: StringMap | undefined): string {
  const lines = Object.entries(map ?? {}).map(([key, value]) => ({ key, line: `${key}=${quoteText(value)}` }));
  return lines
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ line }) => line)
    .join('\n');
}

export interface ResourceFieldInput {
  readonly pod: Pod;
  /** The container that asks; undefined where a volume asks, which must name one. */
  readonly container: Container | undefined;
  readonly selector: ResourceFieldSelector;
  readonly nodeAllocatable: ResourceList;
  /** The gate PodLevelResources. */
  readonly podLevel: boolean;
}

/** A request or limit in units of the divisor, rounded up. Where a container has no limit, that of the pod or node counts. */
export function resourceFieldValue(input: ResourceFieldInput): Parsed<string> {
  const { selector } = input;
  const [, side, resource = ''] = /^(requests|limits)\.(.+)$/.exec(selector.resource) ?? [];
  const known = ['cpu', 'memory', 'ephemeral-storage'].includes(resource) || resource.startsWith('hugepages-');
  if (side === undefined || !known) return unparsable(`unsupported container resource : ${selector.resource}`);
  const found = findContainer(input);
  if (!found.ok) return found;
  const { container, defaulted } = found.value;
  const own = quantityOf(side === 'limits' ? container.resources?.limits : container.resources?.requests, resource);
  const quantity = side === 'limits' && defaulted && own.nanos === 0n ? defaultLimit(input, resource) : own;
  return parsed(inUnits(quantity, resource, selector.divisor));
}

interface FoundContainer {
  readonly container: Container;
  /** Init containers that are asked for by name have no default limits. */
  readonly defaulted: boolean;
}

function findContainer({ pod, container, selector }: ResourceFieldInput): Parsed<FoundContainer> {
  const name = selector.containerName ?? '';
  if (name === '') {
    return container === undefined
      ? unparsable(`${selector.resource} needs a containerName`)
      : parsed({ container, defaulted: true });
  }
  const regular = pod.spec.containers.find((candidate) => candidate.name === name);
  if (regular !== undefined) return parsed({ container: regular, defaulted: true });
  const init = pod.spec.initContainers?.find((candidate) => candidate.name === name);
  if (init !== undefined) return parsed({ container: init, defaulted: false });
  return unparsable(`container ${name} not found`);
}

function defaultLimit({ pod, nodeAllocatable, podLevel }: ResourceFieldInput, resource: string): Quantity {
  // Huge pages are never overcommitted, so a container without a limit has none of them.
  const allocatable = quantityOf(resource.startsWith('hugepages-') ? {} : nodeAllocatable, resource);
  if (allocatable.nanos === 0n || !podLevel || !hasPodLevelLimits(pod)) return allocatable;
  if (!isPodLevelResource(resource)) return allocatable;
  const podLimit = quantityOf(pod.spec.resources?.limits, resource);
  return podLimit.nanos === 0n ? allocatable : podLimit;
}

function inUnits(quantity: Quantity, resource: string, divisorText: string | undefined): string {
  const given = quantityOf({ divisor: divisorText ?? '1' }, 'divisor');
  const divisor = given.nanos === 0n ? quantityOf({ divisor: '1' }, 'divisor') : given;
  const count = resource === 'cpu' ? quantityMilliValue : quantityValue;
  const [amount, unit] = [count(quantity), count(divisor)];
  return String((amount + unit - 1n) / unit);
}
