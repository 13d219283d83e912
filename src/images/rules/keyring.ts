/** Registry credentials and where they came from: which of them to try for an image, in which order. */
import type { Login, Logins } from './docker-config.ts';
import { parseRegistryPlace, placeMatches, type RegistryPlace } from './registry-match.ts';

export type CredentialSource =
  /** From this machine: every pod on it may use them. */
  | { readonly kind: 'node' }
  | { readonly kind: 'secret'; readonly uid: string; readonly namespace: string; readonly name: string }
  | { readonly kind: 'serviceAccount'; readonly uid: string; readonly namespace: string; readonly name: string };

export interface Credential {
  readonly login: Login;
  readonly source: CredentialSource;
}

export interface Keyring {
  readonly keys: readonly Key[];
}

interface Key {
  /** Host and path, without the scheme and the API version. */
  readonly text: string;
  readonly place: RegistryPlace;
  readonly credential: Credential;
}

export const emptyKeyring: Keyring = { keys: [] };

const DEFAULT_REGISTRY = 'index.docker.io';

/** Entries whose place can't be one in a registry are left out. */
export function addLogins(keyring: Keyring, logins: Logins, source: CredentialSource): Keyring {
  const added = [...logins].flatMap(([written, login]): Key[] => {
    const text = keyText(written);
    const place = text === undefined ? undefined : parseRegistryPlace(text);
    return text === undefined || place === undefined ? [] : [{ text, place, credential: { login, source } }];
  });
  // More special places first: of two with the same beginning, the longer one. Equal ones stay in the order they came in.
  const keys = [...keyring.keys, ...added].toSorted((a, b) => (a.text === b.text ? 0 : a.text < b.text ? 1 : -1));
  return { keys };
}

/** `https://host/v1/` is how Docker writes a whole registry. */
function keyText(written: string): string | undefined {
  const bare = written.replace(/^https?:\/\//, '');
  const place = parseRegistryPlace(bare);
  if (place === undefined) return undefined;
  const host = `${place.labels.join('.')}${place.port === '' ? '' : `:${place.port}`}`;
  const path = /^\/v[12]\//.test(place.path) ? place.path.slice('/v1'.length) : place.path;
  return path === '/' ? host : `${host}${path}`;
}

/** To try one after the other. `repository` is a full name, such as `docker.io/library/busybox`. */
export function findCredentials({ keys }: Keyring, repository: string): readonly Credential[] {
  const target = parseRegistryPlace(repository);
  if (target === undefined) return [];
  const found = keys.filter(({ place }) => placeMatches(place, target));
  const chosen =
    found.length > 0 || !isDefaultRegistry(repository) ? found : keys.filter(({ text }) => text === DEFAULT_REGISTRY);
  return chosen.map(({ credential }) => credential);
}

function isDefaultRegistry(repository: string): boolean {
  const [first = '', ...rest] = repository.split('/');
  if (first === '') return false;
  return rest.length === 0 || first === 'docker.io' || first === DEFAULT_REGISTRY || !/[.:]/.test(first);
}
