/** Docker's files of registry credentials, as people write them and as secrets carry them. */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';

export interface Login {
  readonly username: string;
  readonly password: string;
  readonly email: string;
}

/** By the registry or repository that they are for, as it was written. */
export type Logins = ReadonlyMap<string, Login>;

/** `config.json`: the logins are under `auths`, beside other settings. */
export function parseDockerConfigJson(text: string): Parsed<Logins> {
  const root = parseObject(text);
  if (!root.ok) return root;
  const auths = root.value['auths'];
  return auths === undefined || auths === null ? parsed(new Map()) : readLogins(auths, 'auths');
}

/** `.dockercfg`, the old form: the file contains only the logins. */
export function parseDockercfg(text: string): Parsed<Logins> {
  const root = parseObject(text);
  return root.ok ? readLogins(root.value, 'the file') : root;
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseObject(text: string): Parsed<Json> {
  try {
    const value: unknown = JSON.parse(text);
    if (value === null) return parsed({});
    return isObject(value) ? parsed(value) : unparsable('it must be a JSON object');
  } catch {
    // The parser's message could contain a password.
    return unparsable('it is not valid JSON');
  }
}

function readLogins(value: unknown, where: string): Parsed<Logins> {
  if (!isObject(value)) return unparsable(`${where} must be a JSON object`);
  const logins = new Map<string, Login>();
  for (const [place, entry] of Object.entries(value)) {
    const login = readLogin(entry);
    if (!login.ok) return unparsable(`the entry of ${JSON.stringify(place)} ${login.problem}`);
    logins.set(place, login.value);
  }
  return parsed(logins);
}

function readLogin(entry: unknown): Parsed<Login> {
  if (entry === null) return parsed({ username: '', password: '', email: '' });
  if (!isObject(entry)) return unparsable('must be a JSON object');
  const texts: Record<string, string> = {};
  for (const key of ['username', 'password', 'email', 'auth']) {
    const value = entry[key] ?? '';
    if (typeof value !== 'string') return unparsable(`has a ${key} that is no text`);
    texts[key] = value;
  }
  const { username = '', password = '', email = '', auth = '' } = texts;
  if (auth === '') return parsed({ username, password, email });
  const decoded = decodeAuth(auth);
  return decoded.ok ? parsed({ ...decoded.value, email }) : decoded;
}

/** `auth` is base64 of `username:password`, and has precedence over the two separate fields. */
function decodeAuth(auth: string): Parsed<{ username: string; password: string }> {
  const text = decodeBase64(auth);
  if (text === undefined) return unparsable('has an auth that is not base64');
  const colon = text.indexOf(':');
  if (colon < 0) return unparsable('has an auth that is not base64 of username:password');
  return parsed({ username: text.slice(0, colon), password: text.slice(colon + 1) });
}

/** With or without padding; line breaks are allowed, other white space is not. */
function decodeBase64(text: string): string | undefined {
  const bare = text.replace(/[\r\n]/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(bare)) return undefined;
  if (bare.endsWith('=') ? bare.length % 4 !== 0 : bare.length % 4 === 1) return undefined;
  const bytes = Uint8Array.from(atob(bare), (char) => char.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}
