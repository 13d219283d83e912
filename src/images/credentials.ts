/** All credentials that may give access to an image of a pod: its pull secrets, the node's files, the plugins. */
import { createHash } from 'node:crypto';
import type { Pod } from '../api/pod.ts';
import { CodedError } from '../base/errors.ts';
import { escapeJson } from '../base/go-text.ts';
import type { DockerConfigFiles } from './docker-config-files.ts';
import type { CredentialObjects, PullSecret } from './ports.ts';
import { type Login, type Logins, parseDockerConfigJson, parseDockercfg } from './rules/docker-config.ts';
import { addLogins, type Credential, type CredentialSource, emptyKeyring, findCredentials } from './rules/keyring.ts';
import type { HashedCredential } from './rules/verification.ts';

/** A plugin's answer for one image of one pod. */
export interface PluginLogins {
  readonly logins: Logins;
  readonly source: CredentialSource;
}

export interface CredentialPlugins {
  provide(pod: Pod, repository: string, signal: AbortSignal): Promise<readonly PluginLogins[]>;
}

export interface FoundCredentials {
  readonly credentials: readonly HashedCredential[];
  /** Pull secrets of the pod that are missing. */
  readonly missing: readonly string[];
}

export interface Credentials {
  /** To try in this order. Rejects with `invalid` where a secret of the pod can't be parsed. */
  find(pod: Pod, repository: string, signal: AbortSignal): Promise<FoundCredentials>;
  /** Pull secrets of the pod that are missing; empty without an API server. */
  missing(pod: Pod, signal: AbortSignal): Promise<readonly string[]>;
}

export interface CredentialsDeps {
  readonly files: DockerConfigFiles;
  readonly plugins: CredentialPlugins;
  readonly objects: Pick<CredentialObjects, 'secret'> | undefined;
}

export function createCredentials({ files, plugins, objects }: CredentialsDeps): Credentials {
  const nodeSource: CredentialSource = { kind: 'node' };
  return {
    find: async (pod, repository, signal) => {
      const { secrets, missing } = await readSecrets(pod, objects, signal);
      let ofSecrets = emptyKeyring;
      for (const secret of secrets) {
        const { uid, namespace, name } = secret;
        ofSecrets = addLogins(ofSecrets, loginsOf(secret), { kind: 'secret', uid, namespace, name });
      }
      const ofNode = addLogins(emptyKeyring, await files.read(), nodeSource);
      let ofPlugins = emptyKeyring;
      for (const { logins, source } of await plugins.provide(pod, repository, signal)) {
        ofPlugins = addLogins(ofPlugins, logins, source);
      }
      const found = [ofSecrets, ofNode, ofPlugins].flatMap((keyring) => findCredentials(keyring, repository));
      return { credentials: found.map(withHash), missing };
    },
    missing: async (pod, signal) => (objects === undefined ? [] : (await readSecrets(pod, objects, signal)).missing),
  };
}

async function readSecrets(
  pod: Pod,
  objects: CredentialsDeps['objects'],
  signal: AbortSignal,
): Promise<{ readonly secrets: readonly PullSecret[]; readonly missing: readonly string[] }> {
  // A pod can name the same secret a thousand times.
  const names = new Set((pod.spec.imagePullSecrets ?? []).map(({ name = '' }) => name));
  names.delete('');
  const found = await Promise.all(
    Array.from(names, async (name) => ({ name, secret: await objects?.secret(pod.metadata.namespace, name, signal) })),
  );
  return {
    secrets: found.flatMap(({ secret }) => (secret === undefined ? [] : [secret])),
    missing: found.filter(({ secret }) => secret === undefined).map(({ name }) => name),
  };
}

const FORMS = [
  { type: 'kubernetes.io/dockerconfigjson', key: '.dockerconfigjson', parse: parseDockerConfigJson },
  { type: 'kubernetes.io/dockercfg', key: '.dockercfg', parse: parseDockercfg },
] as const;

/** A secret of another type has none. */
function loginsOf({ namespace, name, type, data }: PullSecret): Logins {
  const form = FORMS.find((one) => one.type === type);
  const bytes = form === undefined ? undefined : data.get(form.key);
  if (form === undefined || bytes === undefined || bytes.length === 0) return new Map();
  const logins = form.parse(new TextDecoder().decode(bytes));
  if (logins.ok) return logins.value;
  throw new CodedError('invalid', `image pull secret ${namespace}/${name}: ${form.key}: ${logins.problem}`);
}

function withHash(credential: Credential): HashedCredential {
  return { ...credential, hash: hashLogin(credential.login) };
}

/** As the reference computes it, because it is in files that both read: SHA-256 of the login as JSON, empty fields left out. */
export function hashLogin({ username, password, email }: Login): string {
  const filled = Object.entries({ username, password, email }).filter(([, value]) => value !== '');
  return createHash('sha256')
    .update(escapeJson(JSON.stringify(Object.fromEntries(filled))))
    .digest('hex');
}
