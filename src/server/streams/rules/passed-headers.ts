/**
 * The headers of an upgrade for the runtime's streaming server: only those that the protocols need. The runtime identifies its
 * client by the secret address of this session, so credentials, in any header, are not passed on.
 */
import { isTokenProtocol } from '../../rules/token-protocol.ts';

const NEEDED = new Set([
  'connection',
  'upgrade',
  'origin',
  'user-agent',
  'x-stream-protocol-version',
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-websocket-extensions',
  'traceparent',
  'tracestate',
]);
const PROTOCOLS = 'sec-websocket-protocol';

/** Input and output are alternating names and values, in order, so that repeated headers stay as they are. */
export function passedHeaders(
  raw: readonly string[],
  more: { readonly host: string; readonly client: string },
): string[] {
  // There is no body, which was checked before.
  const passed = ['Host', more.host, 'Content-Length', '0'];
  const forwarded: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]];
    const key = name.toLowerCase();
    if (key === 'x-forwarded-for') forwarded.push(value);
    else if (key === PROTOCOLS) passed.push(...protocolsHeader(name, value));
    else if (NEEDED.has(key)) passed.push(name, value);
  }
  passed.push('X-Forwarded-For', [...forwarded, more.client].filter((part) => part !== '').join(', '));
  return passed;
}

/** Browsers can't set an Authorization header, so their token comes as one of the sub-protocols. */
function protocolsHeader(name: string, value: string): readonly string[] {
  const protocols = value.split(',').map((name) => name.trim());
  const kept = protocols.filter((name) => name !== '' && !isTokenProtocol(name));
  return kept.length === 0 ? [] : [name, kept.join(', ')];
}

/** An upgrade has no body; the next server in the chain would misread one. */
export function hasBody(headers: Readonly<Record<string, string | readonly string[] | undefined>>): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}
