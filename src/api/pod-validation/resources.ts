/** What a container or a whole pod asks for: known names, whole numbers where only those make sense, requests within limits. */
import type { ResourceClaim, ResourceRequirements } from '../container.ts';
import { labelKeyFault } from '../names.ts';
import type { Pod } from '../pod.ts';
import { containerLimits, containerRequests, isPodLevelResource, quantityOf } from '../pod-resources.ts';
import { compareQuantities, formatQuantity, parseQuantity, type Quantity } from '../quantity.ts';
import type { Faults } from './faults.ts';
import { dnsLabel } from './text-rules.ts';

const HUGE_PAGES = 'hugepages-';
const ONE = 1_000_000_000n;
const NATIVE_CONTAINER_RESOURCES = ['cpu', 'memory', 'ephemeral-storage'];
/** With the prefix that quotas put before it, a name must still be a name. */
const QUOTA_PREFIX = 'requests.';

/** In a message that stands once for each fault. */
const NAMES_SHOWN = 10;

type NameRule = (name: string, path: string, faults: Faults) => void;

const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');
const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES);
/** More can be promised than there is. */
const canOvercommit = (name: string): boolean => isNative(name) && !isHugePages(name);
const isExtended = (name: string): boolean =>
  !isNative(name) && !name.startsWith(QUOTA_PREFIX) && labelKeyFault(`${QUOTA_PREFIX}${name}`) === undefined;

export function checkContainerResources(
  resources: ResourceRequirements,
  path: string,
  claimNames: readonly string[],
  faults: Faults,
): void {
  checkRequirements(resources, path, containerResourceName, faults);
  checkClaims(resources.claims ?? [], `${path}.claims`, claimNames, faults);
}

const containerResourceName: NameRule = (name, path, faults) => {
  const fault = labelKeyFault(name);
  if (fault !== undefined) faults.invalid(path, name, fault);
  else if (!name.includes('/')) {
    if (!NATIVE_CONTAINER_RESOURCES.includes(name) && !isHugePages(name)) {
      faults.invalid(path, name, 'must be a standard resource for containers');
    }
  } else if (!isNative(name) && !isExtended(name)) {
    faults.invalid(path, name, "doesn't follow extended resource name standard");
  }
};

const podResourceName: NameRule = (name, path, faults) => {
  if (!isPodLevelResource(name)) faults.unsupported(path, name, ['cpu', 'hugepages-', 'memory']);
};

function checkRequirements(
  { limits = {}, requests = {} }: ResourceRequirements,
  path: string,
  rule: NameRule,
  faults: Faults,
) {
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  for (const name of Object.keys(limits)) checkQuantity(limits[name], name, `${path}.limits[${name}]`, rule, faults);
  for (const name of Object.keys(requests)) {
    checkQuantity(requests[name], name, `${path}.requests[${name}]`, rule, faults);
    if (name in limits) checkWithinLimit(name, quantityOf(requests, name), quantityOf(limits, name), path, faults);
    else if (!canOvercommit(name)) {
      faults.required(`${path}.limits`, 'Limit must be set for non overcommitable resources');
    }
  }
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    faults.forbidden(path, 'HugePages require cpu or memory');
  }
}

function checkWithinLimit(name: string, request: Quantity, limit: Quantity, path: string, faults: Faults): void {
  const order = compareQuantities(request, limit);
  const wrong = canOvercommit(name) ? order > 0 : order !== 0;
  if (!wrong) return;
  const rule = canOvercommit(name) ? 'must be less than or equal to' : 'must be equal to';
  faults.invalid(`${path}.requests`, formatQuantity(request), `${rule} ${name} limit of ${formatQuantity(limit)}`);
}

function checkQuantity(text: string | undefined, name: string, path: string, rule: NameRule, faults: Faults): void {
  rule(name, path, faults);
  const parsed = parseQuantity(text ?? '');
  if (!parsed.ok) {
    faults.invalid(path, text ?? '', parsed.problem);
    return;
  }
  const { nanos } = parsed.value;
  if (nanos < 0n) faults.invalid(path, text, 'must be greater than or equal to 0');
  if (!isNative(name) && nanos % ONE !== 0n) faults.invalid(path, text, 'must be an integer');
  if (isHugePages(name)) checkPages(text ?? '', nanos, name, path, faults);
}

function checkPages(text: string, nanos: bigint, name: string, path: string, faults: Faults): void {
  const size = parseQuantity(name.slice(HUGE_PAGES.length));
  if (!size.ok || size.value.nanos <= 0n) faults.invalid(path, text, `${name} does not name a page size`);
  else if (nanos % size.value.nanos !== 0n)
    faults.invalid(path, text, 'must be a positive integer multiple of page size');
}

function checkClaims(claims: readonly ResourceClaim[], path: string, known: readonly string[], faults: Faults): void {
  const names = new Set(known);
  const shown = known.length > NAMES_SHOWN ? `${known.slice(0, NAMES_SHOWN).join(', ')}, …` : known.join(', ');
  // Of each claim, the requests that were named before; the empty one stands for the whole claim.
  const earlier = new Map<string, Set<string>>();
  claims.forEach(({ name, request }, index) => {
    const at = `${path}[${index}]`;
    if (!name) {
      faults.required(at);
      return;
    }
    const taken = earlier.get(name) ?? new Set();
    const clash = taken.has('') || taken.has(request ?? '') || (!request && taken.size > 0);
    earlier.set(name, taken.add(request ?? ''));
    if (clash) faults.duplicate(at, request ? `${name}/${request}` : name);
    faults.optionalText(`${at}.request`, request, dnsLabel);
    if (!names.has(name)) {
      const choice = known.length === 0 ? ' which is empty' : `: ${shown}`;
      faults.notFound(at, name, `must be one of the names in pod.spec.resourceClaims${choice}`);
    }
  });
}

export function checkPodResources(pod: Pod, resources: ResourceRequirements, faults: Faults): void {
  const path = 'spec.resources';
  if (resources.claims !== undefined) {
    faults.forbidden(`${path}.claims`, 'claims may not be set for Resources at pod-level');
  }
  checkRequirements(resources, path, podResourceName, faults);
  const { limits = {}, requests = {} } = resources;
  for (const [name, total] of containerRequests(pod)) {
    if (!(name in requests) || compareQuantities(total, quantityOf(requests, name)) <= 0) continue;
    const detail = `must be greater than or equal to aggregate container requests of ${formatQuantity(total)}`;
    faults.invalid(`${path}.requests[${name}]`, requests[name], detail);
  }
  for (const [name, total] of containerLimits(pod)) {
    if (!isHugePages(name) || !(name in limits) || compareQuantities(total, quantityOf(limits, name)) <= 0) continue;
    const detail = `must be greater than or equal to aggregate container limits of ${formatQuantity(total)}`;
    faults.invalid(`${path}.limits[${name}]`, limits[name], detail);
  }
  pod.spec.containers.forEach((container, index) => {
    for (const [name, limit] of Object.entries(container.resources?.limits ?? {})) {
      const most = limits[name];
      if (most === undefined) continue;
      if (compareQuantities(quantityOf(container.resources?.limits, name), quantityOf(limits, name)) <= 0) continue;
      const detail = `must be less than or equal to pod limits of ${most}`;
      faults.invalid(`spec.containers[${index}].resources.limits[${name}]`, limit, detail);
    }
  });
}

/** What the runtime class adds is written like limits. */
export function checkOverhead(overhead: Readonly<Record<string, string>>, path: string, faults: Faults): void {
  checkRequirements({ limits: overhead }, path, containerResourceName, faults);
}
