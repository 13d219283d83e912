/** Programs that provide credentials for registries: called when an image matches, their answers kept as long as they say. */
import { createHash } from 'node:crypto';
import { access, constants, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError, describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type Program, type RunProgram, runProgram } from '../host/program.ts';
import type { CredentialPlugins, PluginLogins } from './credentials.ts';
import type { CredentialObjects, Surroundings } from './ports.ts';
import type { Logins } from './rules/docker-config.ts';
import type { CredentialSource } from './rules/keyring.ts';
import { type Provider, type ProviderFile, readProviderFiles } from './rules/provider-config.ts';
import { cacheKeys, formatRequest, type ProviderAnswer, parseAnswer } from './rules/provider-protocol.ts';
import { textMatches } from './rules/registry-match.ts';
import { createSharedWork, type SharedWork } from './shared-work.ts';

export interface CredentialPluginSettings {
  /** A file, or a directory of `.json`, `.yaml` and `.yml` files. */
  readonly configPath: string;
  readonly binDirectory: string;
  /** Whether plugins may get service account tokens. */
  readonly tokens: boolean;
}

export interface CredentialPluginDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly environment: Surroundings['environment'];
  readonly objects: Pick<CredentialObjects, 'serviceAccount' | 'token'> | undefined;
  readonly run?: RunProgram;
}

/** Rejects with all problems of the files: a kubelet with only some of its plugins would fail later without a clear reason. */
export async function openCredentialPlugins(
  deps: CredentialPluginDeps,
  settings: CredentialPluginSettings,
): Promise<CredentialPlugins> {
  const files = await readConfigFiles(settings.configPath);
  const { providers, problems } = readProviderFiles(files, { tokens: settings.tokens });
  if (problems.length > 0) throw new CodedError('invalid', problems.join('\n'));
  for (const { name } of providers) await checkExecutable(join(settings.binDirectory, name));
  return createCredentialPlugins(deps, providers, settings.binDirectory);
}

async function readConfigFiles(path: string): Promise<readonly ProviderFile[]> {
  try {
    const isDirectory = (await stat(path)).isDirectory();
    const names = isDirectory ? (await readdir(path)).filter((name) => /\.(json|ya?ml)$/.test(name)).toSorted() : [];
    if (isDirectory && names.length === 0) throw new Error('there are no .json, .yaml or .yml files in the directory');
    const paths = isDirectory ? names.map((name) => join(path, name)) : [path];
    return await Promise.all(paths.map(async (one) => ({ path: one, text: await readFile(one, 'utf8') })));
  } catch (error) {
    throw new CodedError('invalid', `credential provider configuration ${path}: ${describeError(error)}`, {
      cause: error,
    });
  }
}

async function checkExecutable(path: string): Promise<void> {
  try {
    await access(path, constants.X_OK);
  } catch (cause) {
    throw new CodedError('invalid', `credential provider plugin ${path} is no executable file`, { cause });
  }
}

export function createCredentialPlugins(
  deps: CredentialPluginDeps,
  providers: readonly Provider[],
  binDirectory: string,
): CredentialPlugins {
  const plugins = providers.map((provider) => new Plugin(deps, provider, join(binDirectory, provider.name)));
  return {
    provide: async (pod, repository, signal) => {
      const matching = plugins.filter((plugin) => plugin.matches(repository));
      const answers = await Promise.all(matching.map((plugin) => plugin.provide(pod, repository, signal)));
      return answers.filter((answer) => answer !== undefined);
    },
  };
}

interface Kept {
  readonly logins: Logins;
  /** Monotonic milliseconds. */
  readonly until: number;
}

/** What the plugin gets to know about the pod, and so what its answer depends on. */
interface Identity {
  readonly source: CredentialSource;
  readonly token: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly key: string;
}

const ANONYMOUS: Identity = { source: { kind: 'node' }, token: '', annotations: {}, key: '' };
const DEADLINE_MS = 60_000;
const MOST_KEPT = 1000;

class Plugin {
  readonly #deps: CredentialPluginDeps;
  readonly #provider: Provider;
  readonly #path: string;
  readonly #kept = new Map<string, Kept>();
  readonly #runs: SharedWork<ProviderAnswer> = createSharedWork();

  constructor(deps: CredentialPluginDeps, provider: Provider, path: string) {
    this.#deps = deps;
    this.#provider = provider;
    this.#path = path;
  }

  matches(image: string): boolean {
    return this.#provider.matchImages.some((pattern) => textMatches(pattern, image));
  }

  /** Undefined where the plugin has nothing for this pod, or fails: other credentials may still work. */
  async provide(pod: Pod, image: string, signal: AbortSignal): Promise<PluginLogins | undefined> {
    try {
      const identity = await this.#identify(pod, signal);
      if (identity === undefined) return undefined;
      const logins = this.#find(image, identity) ?? (await this.#callPlugin(image, identity, signal));
      return { logins, source: identity.source };
    } catch (error) {
      signal.throwIfAborted();
      this.#deps.log.error('Failed to provide credentials for image', {
        provider: this.#provider.name,
        image,
        pod: `${pod.metadata.namespace}/${pod.metadata.name}`,
        err: error,
      });
      return undefined;
    }
  }

  async #identify(pod: Pod, signal: AbortSignal): Promise<Identity | undefined> {
    const { token: settings } = this.#provider;
    if (settings === undefined) return ANONYMOUS;
    const { namespace } = pod.metadata;
    const name = pod.spec.serviceAccountName ?? '';
    if (name === '') return settings.required ? undefined : ANONYMOUS;
    const { objects } = this.#deps;
    if (objects === undefined) {
      throw new CodedError('unavailable', 'service accounts are known only to an API server, and there is none');
    }
    const account = await objects.serviceAccount(namespace, name, signal);
    if (settings.requiredAnnotations.some((key) => account.annotations[key] === undefined)) return undefined;
    const keys = [...settings.requiredAnnotations, ...settings.optionalAnnotations].toSorted();
    const annotations = Object.fromEntries(
      keys.flatMap((key) => {
        const value = account.annotations[key];
        return value === undefined ? [] : [[key, value]];
      }),
    );
    const token = await objects.token(
      { pod: pod.metadata, serviceAccount: { uid: account.uid, name }, audience: settings.audience },
      signal,
    );
    const tokenHash = settings.cacheType === 'Token' ? createHash('sha256').update(token).digest('hex') : '';
    return {
      source: { kind: 'serviceAccount', uid: account.uid, namespace, name },
      token,
      annotations,
      key: JSON.stringify([namespace, name, account.uid, annotations, tokenHash]),
    };
  }

  #find(image: string, { key }: Identity): Logins | undefined {
    const now = this.#deps.clock.mono();
    for (const [name, { until }] of this.#kept) if (now >= until) this.#kept.delete(name);
    const keys = Object.values(cacheKeys(image)).map((base) => JSON.stringify([base, key]));
    return keys.map((name) => this.#kept.get(name)).find((kept) => kept !== undefined)?.logins;
  }

  async #callPlugin(image: string, identity: Identity, signal: AbortSignal): Promise<Logins> {
    const { key, token, annotations } = identity;
    const { apiVersion, defaultCacheMs, token: settings } = this.#provider;
    const request = formatRequest({ apiVersion, image, token, annotations });
    const answer = await this.#runs.join(JSON.stringify([request, key]), (own) => this.#exec(request, own), signal);
    const echoed = token !== '' && [...answer.logins.values()].some(({ password }) => password === token);
    if (echoed && settings?.cacheType !== 'Token') {
      throw new CodedError(
        'invalid',
        "the plugin returned the service account token as the password, which needs cacheType 'Token'",
      );
    }
    const keepMs = answer.cacheMs ?? defaultCacheMs;
    if (keepMs > 0) {
      const name = JSON.stringify([cacheKeys(image)[answer.cacheKeyType], key]);
      this.#kept.delete(name);
      this.#kept.set(name, { logins: answer.logins, until: this.#deps.clock.mono() + keepMs });
      // The first is the oldest. Pods name the images: they must not fill the memory with answers.
      for (const oldest of this.#kept.keys()) {
        if (this.#kept.size <= MOST_KEPT) break;
        this.#kept.delete(oldest);
      }
    }
    return answer.logins;
  }

  async #exec(input: string, signal: AbortSignal): Promise<ProviderAnswer> {
    const { args, env, apiVersion } = this.#provider;
    const { clock, environment, run = runProgram } = this.#deps;
    const added = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    const program: Program = { path: this.#path, args, environment: { ...environment, ...added }, input };
    const output = await run(program, { clock, deadlineMs: DEADLINE_MS, signal });
    const answer = parseAnswer(output, apiVersion);
    if (!answer.ok) throw new CodedError('invalid', `credential provider plugin ${this.#path}: ${answer.problem}`);
    return answer.value;
  }
}
