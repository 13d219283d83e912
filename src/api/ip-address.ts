/** IP addresses as values, read as leniently as Kubernetes reads them: leading zeros in IPv4 are decimal. */

export type IpAddress = { readonly family: 4 | 6; readonly bytes: readonly number[] };

function parseIpv4(text: string): number[] | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || parts.some((part) => !/^\d+$/.test(part))) return undefined;
  const bytes = parts.map(Number);
  return bytes.some((byte) => byte > 255) ? undefined : bytes;
}

function parseGroups(text: string): number[] | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [index, group] of groups.entries()) {
    if (index === groups.length - 1 && group.includes('.')) {
      const tail = parseIpv4(group);
      if (tail === undefined) return undefined;
      bytes.push(...tail);
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined;
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
    }
  }
  return bytes;
}

function parseIpv6(text: string): number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [before = '', after] = halves;
  const head = parseGroups(before);
  if (after === undefined) return head?.length === 16 ? head : undefined;
  const tail = parseGroups(after);
  // A dotted tail belongs to the end of the address only, and `::` stands for at least one group.
  if (head === undefined || tail === undefined || before.includes('.') || head.length + tail.length > 14) {
    return undefined;
  }
  return [...head, ...new Array<number>(16 - head.length - tail.length).fill(0), ...tail];
}

/** The address, or undefined. An IPv4 address in IPv6 form (`::ffff:1.2.3.4`) is an IPv4 address. Zones are refused. */
export function parseIpAddress(text: string): IpAddress | undefined {
  if (!text.includes(':')) {
    const bytes = parseIpv4(text);
    return bytes === undefined ? undefined : { family: 4, bytes };
  }
  const bytes = parseIpv6(text);
  if (bytes === undefined) return undefined;
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return isMapped ? { family: 4, bytes: bytes.slice(12) } : { family: 6, bytes };
}

/** `0.0.0.0` or `::`. */
export function isUnspecified(address: IpAddress): boolean {
  return address.bytes.every((byte) => byte === 0);
}

export type Cidr = { readonly address: IpAddress; readonly prefixLength: number };

export function parseCidr(text: string): Cidr | undefined {
  const slash = text.lastIndexOf('/');
  const address = slash < 0 ? undefined : parseIpAddress(text.slice(0, slash));
  const length = text.slice(slash + 1);
  if (address === undefined || !/^\d{1,3}$/.test(length)) return undefined;
  const prefixLength = Number(length);
  return prefixLength > (address.family === 4 ? 32 : 128) ? undefined : { address, prefixLength };
}
