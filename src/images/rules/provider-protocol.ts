/** The request to a credential provider plugin on its standard input, and its response on its standard output. */
import { parseDuration } from '../../api/duration.ts';
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import { escapeJson } from '../../base/go-text.ts';
import type { Login, Logins } from './docker-config.ts';

export interface ProviderRequest {
  readonly apiVersion: string;
  /** Without tag and digest. */
  readonly image: string;
  readonly token: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** For which images an answer is good. */
export type CacheKeyType = 'Image' | 'Registry' | 'Global';

export interface ProviderAnswer {
  readonly cacheKeyType: CacheKeyType;
  /** Milliseconds; undefined where the plugin leaves it to the configuration. */
  readonly cacheMs: number | undefined;
  readonly logins: Logins;
}

export function formatRequest({ apiVersion, image, token, annotations }: ProviderRequest): string {
  const request = {
    kind: 'CredentialProviderRequest',
    apiVersion,
    image,
    ...(token === '' ? {} : { serviceAccountToken: token }),
    ...(Object.keys(annotations).length === 0 ? {} : { serviceAccountAnnotations: annotations }),
  };
  return `${escapeJson(JSON.stringify(request))}\n`;
}

const KEY_TYPES: ReadonlySet<string> = new Set<CacheKeyType>(['Image', 'Registry', 'Global']);
const FIELDS: ReadonlySet<string> = new Set(['kind', 'apiVersion', 'cacheKeyType', 'cacheDuration', 'auth']);

/** No message quotes the response: it contains passwords. */
export function parseAnswer(text: string, apiVersion: string): Parsed<ProviderAnswer> {
  const root = parseObject(text);
  if (root === undefined) return unparsable('its answer is not a JSON object');
  if (root['apiVersion'] !== apiVersion) {
    return unparsable(`its answer has apiVersion ${JSON.stringify(root['apiVersion'])} instead of ${apiVersion}`);
  }
  if (root['kind'] !== 'CredentialProviderResponse') {
    return unparsable(`its answer has kind ${JSON.stringify(root['kind'])} instead of CredentialProviderResponse`);
  }
  const unknown = Object.keys(root).find((key) => !FIELDS.has(key));
  if (unknown !== undefined) return unparsable(`its answer has the unknown field ${JSON.stringify(unknown)}`);
  const cacheKeyType = root['cacheKeyType'];
  if (typeof cacheKeyType !== 'string' || !KEY_TYPES.has(cacheKeyType)) {
    return unparsable(`its answer has cacheKeyType ${JSON.stringify(cacheKeyType)}: use ${[...KEY_TYPES].join(', ')}`);
  }
  const cacheMs = readDuration(root['cacheDuration']);
  if (!cacheMs.ok) return cacheMs;
  const logins = readAuth(root['auth'] ?? {});
  if (logins === undefined) return unparsable('its answer has an auth that is not a map of username and password');
  return parsed({ cacheKeyType: cacheKeyType as CacheKeyType, cacheMs: cacheMs.value, logins });
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseObject(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    // The caller reports that it is no JSON; the parser's message could contain a password.
    return undefined;
  }
}

function readDuration(value: unknown): Parsed<number | undefined> {
  if (value === undefined || value === null) return parsed(undefined);
  const duration = typeof value === 'string' ? parseDuration(value) : unparsable('it must be text, such as "5m"');
  return duration.ok
    ? duration
    : unparsable(`its answer has a cacheDuration that is not understood: ${duration.problem}`);
}

function readAuth(value: unknown): Logins | undefined {
  if (!isObject(value)) return undefined;
  const logins = new Map<string, Login>();
  for (const [place, login] of Object.entries(value)) {
    if (!isObject(login)) return undefined;
    const { username = '', password = '', ...more } = login;
    if (typeof username !== 'string' || typeof password !== 'string' || Object.keys(more).length > 0) return undefined;
    logins.set(place, { username, password, email: '' });
  }
  return logins;
}

/** Under which name an answer for `image` is kept, and in this order looked for. */
export function cacheKeys(image: string): Readonly<Record<CacheKeyType, string>> {
  const [registry = ''] = image.split('/');
  // No registry has such a name.
  return { Image: image, Registry: registry, Global: '<global>' };
}
