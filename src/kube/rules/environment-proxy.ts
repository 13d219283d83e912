/** The proxy of the environment, for a kubeconfig without one: HTTPS_PROXY, HTTP_PROXY and NO_PROXY. */
import { type IpAddress, parseIpAddress } from '../../api/ip-address.ts';
import { type Parsed, parsed } from '../../api/parsed.ts';
import { type Endpoint, type ProxyServer, parseProxy } from './endpoint.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export function proxyOfEnvironment(environment: Environment, endpoint: Endpoint): Parsed<ProxyServer | undefined> {
  const read = (name: string) => environment[name] || environment[name.toLowerCase()] || '';
  const url = read(endpoint.secure ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  if (url === '' || isDirect(read('NO_PROXY'), endpoint)) return parsed(undefined);
  return parseProxy(url.includes('://') ? url : `http://${url}`);
}

/** The machine itself is never reached through a proxy. */
function isDirect(noProxy: string, { host, port }: Endpoint): boolean {
  const name = host.toLowerCase();
  const address = parseIpAddress(name);
  if (name === 'localhost' || (address !== undefined && isLoopback(address))) return true;
  const entries = noProxy.split(',').map((entry) => entry.trim().toLowerCase());
  return entries.some((entry) => entry !== '' && matches(entry, { name, address, port }));
}

function isLoopback({ family, bytes }: IpAddress): boolean {
  return family === 4 ? bytes[0] === 127 : bytes.every((byte, index) => byte === (index === 15 ? 1 : 0));
}

interface Target {
  readonly name: string;
  readonly address: IpAddress | undefined;
  readonly port: number;
}

function matches(entry: string, { name, address, port }: Target): boolean {
  if (entry === '*') return true;
  const [network = '', length] = entry.split('/');
  const base = parseIpAddress(network);
  if (length !== undefined)
    return address !== undefined && base !== undefined && contains(base, Number(length), address);
  const [, named = entry, onlyPort] = /^(.*[^:]):(\d+)$/.exec(entry) ?? [];
  const hasPort = onlyPort !== undefined && base === undefined;
  if (hasPort && Number(onlyPort) !== port) return false;
  const host = (hasPort ? named : entry).replace(/^\[|\]$/g, '');
  const same = parseIpAddress(host);
  if (same !== undefined) return address !== undefined && contains(same, same.bytes.length * 8, address);
  // `example.org` stands for itself and all below it, `.example.org` and `*.example.org` only for what is below.
  if (host.startsWith('*.') || host.startsWith('.')) return name.endsWith(host.replace(/^\*/, ''));
  return name === host || name.endsWith(`.${host}`);
}

function contains(base: IpAddress, bits: number, address: IpAddress): boolean {
  if (base.family !== address.family || !Number.isInteger(bits) || bits < 0 || bits > base.bytes.length * 8)
    return false;
  return base.bytes.every((byte, index) => {
    const counted = Math.min(Math.max(bits - index * 8, 0), 8);
    const mask = (0xff << (8 - counted)) & 0xff;
    return (byte & mask) === ((address.bytes[index] ?? 0) & mask);
  });
}
