/** The network of this machine: its interfaces with their addresses, and where its default routes go. */
import { existsSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { Clock } from '../base/clock.ts';
import { type RunProgram, runProgram } from './program.ts';

export interface InterfaceAddresses {
  readonly name: string;
  readonly up: boolean;
  readonly loopback: boolean;
  readonly addresses: readonly string[];
}

/** The system lists only those that are up. */
export function listInterfaces(): readonly InterfaceAddresses[] {
  return Object.entries(networkInterfaces()).map(([name, addresses = []]) => ({
    name,
    up: true,
    loopback: addresses.some(({ internal }) => internal),
    addresses: addresses.map(({ address }) => address),
  }));
}

export interface AddressFiles {
  readonly ipv4: string;
  readonly ipv6: string;
}

const ADDRESS_FILES: AddressFiles = { ipv4: '/proc/net/fib_trie', ipv6: '/proc/net/if_inet6' };
const READ_AGAIN_MS = 60_000;

/**
 * The same, but read only where this machine's addresses have changed, and once a minute. The kernel gives out its interfaces under a
 * lock that it also holds while the networks of pods come and go: in a burst of pods each look could stop this process for a tenth of a
 * second. The files are read without that lock.
 */
export function createInterfaceReader(
  mono: () => number,
  { list = listInterfaces, files = ADDRESS_FILES }: { list?: typeof listInterfaces; files?: AddressFiles } = {},
): typeof listInterfaces {
  let kept: { readonly mark: string; readonly at: number; readonly interfaces: ReturnType<typeof list> } | undefined;
  return () => {
    const [ipv4, ipv6] = [readIfThere(files.ipv4), readIfThere(files.ipv6)];
    const mark = [...localIpv4Addresses(ipv4), ...wideIpv6Addresses(ipv6)].join(' ');
    const isFresh = kept?.mark === mark && mono() - kept.at < READ_AGAIN_MS;
    // Without the files it is unknown whether something has changed.
    if (kept === undefined || !isFresh || ipv4 === '') kept = { mark, at: mono(), interfaces: list() };
    return kept.interfaces;
  };
}

/** A tree of prefixes: an address of this machine has `/32 host LOCAL` below it. */
export function localIpv4Addresses(trie: string): readonly string[] {
  const found = trie.matchAll(/\|-- ([\d.]+)\n\s+\/32 host LOCAL/g);
  return [...new Set([...found].map(([, address = '']) => address))].sort();
}

/** Columns: address, interface number, prefix, scope, flags, name. Every pod's interface has an address of link scope (20). */
export function wideIpv6Addresses(table: string): readonly string[] {
  const rows = table.split('\n').map((line) => line.trim().split(/\s+/));
  return rows
    .filter(([, , , scope = '20']) => scope !== '20')
    .map(([address = '', , , , , name = '']) => `${address}@${name}`)
    .sort();
}

const readIfThere = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

export interface RouteFiles {
  readonly ipv4: string;
  readonly ipv6: string;
}

const ROUTE_FILES: RouteFiles = { ipv4: '/proc/net/route', ipv6: '/proc/net/ipv6_route' };

export interface DefaultRouteOf {
  readonly family: 4 | 6;
  readonly interface: string;
}

/** In the order of the kernel's tables, IPv4 first. */
export function listDefaultRoutes(files: RouteFiles = ROUTE_FILES): readonly DefaultRouteOf[] {
  return [...parseIpv4Routes(readIfThere(files.ipv4)), ...parseIpv6Routes(readIfThere(files.ipv6))];
}

/** Columns: interface, destination, gateway, flags, …, the mask as the eighth; numbers in hexadecimal. */
export function parseIpv4Routes(text: string): readonly DefaultRouteOf[] {
  return text
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, destination, , , , , , mask]) => destination === '00000000' && mask === '00000000')
    .map(([name = '']) => ({ family: 4, interface: name }));
}

/** Columns: destination, its prefix length, …, the interface as the last. The kernel keeps a default route that refuses at `lo`. */
export function parseIpv6Routes(text: string): readonly DefaultRouteOf[] {
  return text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([destination = '', length, ...rest]) => /^0{32}$/.test(destination) && length === '00' && rest.length > 0)
    .map((columns) => columns.at(-1) ?? '')
    .filter((name) => name !== 'lo')
    .map((name) => ({ family: 6, interface: name }));
}

export interface ResolveLimits {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly run?: RunProgram;
}

/** The resolver gives up by itself after less. */
const RESOLVE_WITHIN_MS = 60_000;

/**
 * What the system's resolver says; nothing where it knows no such name. Asked in a process of its own: where name servers don't
 * answer it takes many seconds, and a thread of ours could be neither called back nor left behind at the end.
 */
export async function resolveName(
  name: string,
  { clock, signal, run = runProgram }: ResolveLimits,
): Promise<readonly string[]> {
  const program = {
    path: 'getent',
    args: ['ahosts', '--', name],
    environment: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
    input: '',
  };
  try {
    return parseResolved(await run(program, { clock, deadlineMs: RESOLVE_WITHIN_MS, signal }));
  } catch (error) {
    if (signal.aborted) throw error;
    return []; // an unknown name is the usual answer, and a machine without the program has none to give
  }
}

/** Lines of an address, a kind of socket and perhaps a name; each address comes once for every kind. */
export function parseResolved(text: string): readonly string[] {
  const addresses = text.split('\n').map((line) => line.trim().split(/\s+/)[0] ?? '');
  return [...new Set(addresses.filter((address) => address !== ''))];
}
