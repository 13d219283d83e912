/** Where a check goes: port, address, URL and headers, from the pod's spec. */
import type { Container, HttpGetAction, HttpHeader, IntOrString } from '../../api/container.ts';
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';

export function resolvePort(port: IntOrString, container: Pick<Container, 'ports'>): Parsed<number> {
  const named = container.ports?.find(({ name }) => name !== undefined && name === port)?.containerPort;
  const number = named ?? (/^[+-]?\d+$/.test(String(port)) ? Number(port) : undefined);
  if (number === undefined) return unparsable(`port ${JSON.stringify(port)}: the container has no port of that name`);
  if (number < 1 || number > 65_535) return unparsable(`invalid port number: ${number}`);
  return parsed(number);
}

/** `host:port`, with the brackets that an IPv6 address needs. */
export function joinHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

export interface HttpTarget {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  /** What follows `GET `. */
  readonly path: string;
}

export function httpTarget(action: HttpGetAction, container: Container, podIp: string): Parsed<HttpTarget> {
  const port = resolvePort(action.port, container);
  if (!port.ok) return port;
  return parsed({
    scheme: action.scheme?.toLowerCase() === 'https' ? 'https' : 'http',
    host: action.host || podIp,
    port: port.value,
    path: requestPath(action.path ?? ''),
  });
}

export function formatTarget({ scheme, host, port, path }: HttpTarget): string {
  return `${scheme}://${joinHostPort(host, port)}${path}`;
}

const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
const ORIGIN = /^(?:[A-Za-z][A-Za-z0-9+.-]*:)?\/\/[^/?#]*/;
// Bytes that a path or a query can't carry as they are.
const UNSAFE_IN_PATH = /[^\w.~$&+,/:;=@!'()*[\]%-]/gu;
const UNSAFE_IN_QUERY = /[^\x21-\x7e]/gu;

/**
 * The request target for a `path` as people write it: with a query, without a leading slash, with blanks, with a host that
 * is ignored. A text that is no URL at all is taken literally.
 */
export function requestPath(text: string): string {
  if (BROKEN_ESCAPE.test(text.split('?')[0] ?? '')) return withSlash(text.replaceAll('%', '%25'), true);
  const [whole = ''] = text.replace(ORIGIN, '').split('#');
  const query = whole.indexOf('?');
  if (query < 0) return withSlash(whole, false);
  return `${withSlash(whole.slice(0, query), false)}${whole.slice(query).replace(UNSAFE_IN_QUERY, escapeBytes)}`;
}

function withSlash(path: string, literal: boolean): string {
  const escaped = path.replace(UNSAFE_IN_PATH, escapeBytes);
  const whole = literal ? escaped.replaceAll('?', '%3F') : escaped;
  return whole.startsWith('/') ? whole : `/${whole}`;
}

function escapeBytes(char: string): string {
  const bytes = [...new TextEncoder().encode(char)];
  return bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

export interface RequestHeaders {
  /** Sent in place of the address where the pod names one. */
  readonly host: string | undefined;
  readonly others: readonly (readonly [name: string, value: string])[];
}

/** Headers about the connection or the body: the client sets these itself. */
const OWN = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'trailer']);

/** The pod's headers, with the two that every check sends unless the pod sets them; an empty value omits the header. */
export function requestHeaders(requested: readonly HttpHeader[] | undefined, userAgent: string): RequestHeaders {
  const given = (requested ?? []).map(({ name, value }) => [name, value] as const);
  const first = (name: string) => given.find(([other]) => other.toLowerCase() === name)?.[1];
  const defaults = [
    ['User-Agent', userAgent],
    ['Accept', '*/*'],
  ] as const;
  const isLeftOut = (name: string) => (name === 'user-agent' || name === 'accept') && first(name) === '';
  const others = given.filter(([name]) => !OWN.has(name.toLowerCase()) && !isLeftOut(name.toLowerCase()));
  return {
    host: first('host') || undefined,
    others: [...defaults.filter(([name]) => first(name.toLowerCase()) === undefined), ...others],
  };
}
