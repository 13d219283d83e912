/** The addresses of a node: those of the flag, else those that its name resolves to, else that of its default route. */
import { type IpAddress, isUnspecified, parseIpAddress } from '../../api/ip-address.ts';
import type { NodeAddress } from '../../api/node.ts';
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';

/** One network interface of this machine, in the kernel's order. */
export interface NetworkInterface {
  readonly name: string;
  readonly up: boolean;
  readonly loopback: boolean;
  readonly addresses: readonly string[];
}

export interface DefaultRoute {
  readonly family: 4 | 6;
  readonly interface: string;
}

export interface AddressInput {
  readonly nodeName: string;
  readonly hostname: string;
  /** `--node-ip`: none, one (perhaps `0.0.0.0` or `::`), or one of each family. */
  readonly flagIps: readonly string[];
  /** Addresses that the node's name resolves to. */
  readonly named: readonly string[];
  readonly interfaces: readonly NetworkInterface[];
  readonly routes: readonly DefaultRoute[];
  /** `--cloud-provider=external`: the cloud's controller may set the addresses. */
  readonly externalCloud: boolean;
}

export const PROVIDED_IP_ANNOTATION = 'alpha.kubernetes.io/provided-node-ip';

export interface AddressAnswer {
  readonly addresses: readonly NodeAddress[];
  /** For the cloud's controller; undefined removes the annotation. */
  readonly providedIp: string | undefined;
}

/** `known` are the addresses of the node object: those that the cloud has set stay. */
export function computeAddresses(input: AddressInput, known: readonly NodeAddress[] = []): Parsed<AddressAnswer> {
  const configured = input.flagIps.flatMap((text) => parseIpAddress(text) ?? []);
  const given = configured.filter((address) => !isUnspecified(address));
  for (const [index, address] of given.entries()) {
    const fault = nodeIpFault(address, input.interfaces);
    if (fault !== undefined)
      return unparsable(`failed to validate ${index === 0 ? 'nodeIP' : 'secondaryNodeIP'}: ${fault}`);
  }
  const providedIp = input.externalCloud && given.length > 0 ? given.map(formatIpAddress).join(',') : undefined;
  if (input.externalCloud && known.length > 0) return parsed({ addresses: known, providedIp });
  const hostname: NodeAddress = { type: 'Hostname', address: input.hostname };
  if (input.externalCloud && configured.length === 0) return parsed({ addresses: [hostname], providedIp });
  const internal = given.length > 0 ? parsed(given) : findAddress(input, configured[0]);
  if (!internal.ok) return internal;
  const ips = internal.value.map((address) => ({ type: 'InternalIP', address: formatIpAddress(address) }));
  return parsed({ addresses: [...ips, hostname], providedIp });
}

/** Whether the answer depends only on the flag and the host name. */
export function hasConfiguredAddress({ flagIps, hostname }: Pick<AddressInput, 'flagIps' | 'hostname'>): boolean {
  const configured = flagIps.flatMap((text) => parseIpAddress(text) ?? []);
  return configured.some((address) => !isUnspecified(address)) || parseIpAddress(hostname) !== undefined;
}

/** The flag may be an unspecified address, which only says which family comes first. */
function findAddress(input: AddressInput, request: IpAddress | undefined): Parsed<readonly IpAddress[]> {
  const families = request?.family === 6 ? ([6, 4] as const) : ([4, 6] as const);
  const hostIp = parseIpAddress(input.hostname);
  if (hostIp !== undefined) return parsed([hostIp]);
  const named = input.named
    .flatMap((text) => parseIpAddress(text) ?? [])
    .filter((address) => nodeIpFault(address, input.interfaces) === undefined);
  const byName = named.find(({ family }) => family === families[0]) ?? named[0];
  if (byName !== undefined) return parsed([byName]);
  const found = families.map((family) => addressOfRoute(input, family)).find((address) => address !== undefined);
  if (found !== undefined) return parsed([found]);
  const why =
    input.routes.length === 0
      ? 'there is no default route, and the name does not resolve to an address of this machine'
      : 'no interface with a default route has a global address';
  return unparsable(`can't get ip address of node ${input.nodeName}. error: ${why}; set --node-ip`);
}

function addressOfRoute({ routes, interfaces }: AddressInput, family: 4 | 6): IpAddress | undefined {
  for (const route of routes.filter((each) => each.family === family)) {
    const own = interfaces.filter(({ name, up }) => up && name === route.interface);
    // Machines that route over link-local addresses have their global one on the loopback interface.
    const onLoopback = interfaces.filter(({ up, loopback }) => up && loopback);
    for (const candidate of [...own, ...onLoopback]) {
      const found = candidate.addresses
        .flatMap((text) => parseIpAddress(text) ?? [])
        .find((address) => address.family === family && kindOf(address) === 'global');
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Why this can't be a node's address, in the wording of the reference. */
function nodeIpFault(address: IpAddress, interfaces: readonly NetworkInterface[]): string | undefined {
  switch (kindOf(address)) {
    case 'unspecified':
      return "nodeIP can't be an all zeros address";
    case 'loopback':
      return "nodeIP can't be loopback address";
    case 'multicast':
      return "nodeIP can't be a multicast address";
    case 'linkLocal':
      return "nodeIP can't be a link-local unicast address";
    case 'broadcast':
    case 'global': {
      const text = formatIpAddress(address);
      const isHere = interfaces.some(({ addresses }) =>
        addresses.some((own) => {
          const parsedOwn = parseIpAddress(own);
          return parsedOwn !== undefined && formatIpAddress(parsedOwn) === text;
        }),
      );
      return isHere ? undefined : `node IP: ${JSON.stringify(text)} not found in the host's network interfaces`;
    }
  }
}

type AddressKind = 'unspecified' | 'loopback' | 'multicast' | 'linkLocal' | 'broadcast' | 'global';

function kindOf(address: IpAddress): AddressKind {
  const { family, bytes } = address;
  const [first = 0, second = 0] = bytes;
  if (isUnspecified(address)) return 'unspecified';
  if (family === 4) {
    if (first === 127) return 'loopback';
    if (first >= 224 && first < 240) return 'multicast';
    if (first === 169 && second === 254) return 'linkLocal';
    return bytes.every((byte) => byte === 255) ? 'broadcast' : 'global';
  }
  if (bytes.slice(0, 15).every((byte) => byte === 0) && bytes[15] === 1) return 'loopback';
  if (first === 0xff) return 'multicast';
  return first === 0xfe && (second & 0xc0) === 0x80 ? 'linkLocal' : 'global';
}

/** The one canonical text (RFC 5952). */
export function formatIpAddress({ family, bytes }: IpAddress): string {
  if (family === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, index) => ((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0));
  const gap = longestZeros(groups);
  const text = (part: readonly number[]) => part.map((group) => group.toString(16)).join(':');
  if (gap === undefined) return text(groups);
  return `${text(groups.slice(0, gap.from))}::${text(groups.slice(gap.to))}`;
}

/** The first of the longest runs of at least two. */
function longestZeros(groups: readonly number[]): { readonly from: number; readonly to: number } | undefined {
  let best: { readonly from: number; readonly to: number } | undefined;
  for (let from = 0; from < groups.length; from += 1) {
    let to = from;
    while (groups[to] === 0) to += 1;
    if (to - from > 1 && to - from > (best === undefined ? 0 : best.to - best.from)) best = { from, to };
    from = Math.max(from, to);
  }
  return best;
}
