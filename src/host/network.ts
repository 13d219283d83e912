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

/** Only those that are up are told of by the system. */
export function listInterfaces(): readonly InterfaceAddresses[] {
  return Object.entries(networkInterfaces()).map(([name, addresses = []]) => ({
    name,
    up: true,
    loopback: addresses.some(({ internal }) => internal),
    addresses: addresses.map(({ address }) => address),
  }));
}

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
  const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  return [...parseIpv4Routes(read(files.ipv4)), ...parseIpv6Routes(read(files.ipv6))];
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
