/** Which headers of an upgrade reach the runtime's streaming server: what the protocols need, and nobody's credentials. */
const KEPT_HERE = new Set([
  'host', // it is asked under its own name
  'authorization',
  'proxy-authorization',
  'cookie',
  'content-length', // there is no body, which was checked, and that is said anew
  'x-forwarded-for',
]);
const IMPERSONATION = 'impersonate-';

/** From and to alternating names and values, in their order, so that repeated headers stay as they are. */
export function passedHeaders(
  raw: readonly string[],
  more: { readonly host: string; readonly client: string },
): string[] {
  const passed = ['Host', more.host, 'Content-Length', '0'];
  const forwarded: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]];
    const key = name.toLowerCase();
    if (key === 'x-forwarded-for') forwarded.push(value);
    if (!KEPT_HERE.has(key) && !key.startsWith(IMPERSONATION)) passed.push(name, value);
  }
  passed.push('X-Forwarded-For', [...forwarded, more.client].filter((part) => part !== '').join(', '));
  return passed;
}

/** An upgrade has no body; one that claims to have would be read as something else by the next one in the chain. */
export function hasBody(headers: Readonly<Record<string, string | readonly string[] | undefined>>): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}
