/** The file that names credential provider plugins (CredentialProviderConfig): parses it and names all problems. */
import { parseDuration } from '../../api/duration.ts';
import { labelKeyFault } from '../../api/names.ts';
import { decodeObject } from '../../api/object-decode.ts';
import { BOOL, list, STRING, struct } from '../../api/object-schema.ts';
import { readTree } from '../../base/yaml-tree.ts';
import { parseRegistryPlace } from './registry-match.ts';

export interface Provider {
  /** Of the executable file in the directory of plugins. */
  readonly name: string;
  readonly matchImages: readonly string[];
  /** Milliseconds, where an answer doesn't say itself how long it may be kept. */
  readonly defaultCacheMs: number;
  /** Of requests and answers. */
  readonly apiVersion: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly token: TokenAttributes | undefined;
}

/** For a plugin that needs a token of the pod's service account. */
export interface TokenAttributes {
  readonly audience: string;
  /** `Token`: an answer is good for this token only; `ServiceAccount`: for all pods of the account. */
  readonly cacheType: 'Token' | 'ServiceAccount';
  /** The plugin is not called for pods without a service account. */
  readonly required: boolean;
  readonly requiredAnnotations: readonly string[];
  readonly optionalAnnotations: readonly string[];
}

export interface ProviderFile {
  readonly path: string;
  readonly text: string;
}

export interface ReadProviders {
  readonly providers: readonly Provider[];
  /** Each names the file and the field. */
  readonly problems: readonly string[];
}

const GROUP = 'kubelet.config.k8s.io';
const FILE_VERSIONS = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `${GROUP}/${version}`);
const PROTOCOL_V1 = 'credentialprovider.kubelet.k8s.io/v1';
const PROTOCOLS = [PROTOCOL_V1, `${PROTOCOL_V1}alpha1`, `${PROTOCOL_V1}beta1`];
const CACHE_TYPES = ['ServiceAccount', 'Token'];

const SCHEMA = struct({
  apiVersion: STRING,
  kind: STRING,
  providers: list(
    struct({
      name: STRING,
      matchImages: list(STRING),
      defaultCacheDuration: STRING,
      apiVersion: STRING,
      args: list(STRING),
      env: list(struct({ name: STRING, value: STRING })),
      tokenAttributes: struct({
        serviceAccountTokenAudience: STRING,
        cacheType: STRING,
        requireServiceAccount: BOOL,
        requiredServiceAccountAnnotationKeys: list(STRING),
        optionalServiceAccountAnnotationKeys: list(STRING),
      }),
    }),
  ),
});

interface WrittenProvider {
  readonly name?: string;
  readonly matchImages?: readonly string[];
  readonly defaultCacheDuration?: string;
  readonly apiVersion?: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name?: string; readonly value?: string }[];
  readonly tokenAttributes?: WrittenToken;
}

interface WrittenToken {
  readonly serviceAccountTokenAudience?: string;
  readonly cacheType?: string;
  readonly requireServiceAccount?: boolean;
  readonly requiredServiceAccountAnnotationKeys?: readonly string[];
  readonly optionalServiceAccountAnnotationKeys?: readonly string[];
}

/** All files together, in this order, make one list of providers. */
export function readProviderFiles(files: readonly ProviderFile[], gates: { readonly tokens: boolean }): ReadProviders {
  const problems: string[] = [];
  const providers: Provider[] = [];
  for (const file of files) {
    const report = (where: string, what: string) => problems.push(`${file.path}: ${where}: ${what}`);
    for (const [index, written] of readFile(file, problems).entries()) {
      const provider = readProvider(written, gates, (field, what) => report(`providers[${index}]${field}`, what));
      const { name } = provider;
      if (providers.some((other) => other.name === name)) {
        report(`providers[${index}].name`, `${JSON.stringify(name)} is the name of another provider already`);
      }
      providers.push(provider);
    }
  }
  if (problems.length === 0 && providers.length === 0) {
    problems.push(`${files.map(({ path }) => path).join(', ')}: providers: at least one is needed`);
  }
  return { providers, problems };
}

function readFile({ path, text }: ProviderFile, problems: string[]): readonly WrittenProvider[] {
  const read = readTree(text);
  if ('problem' in read) {
    const { place, text: what } = read.problem;
    problems.push(`${path}:${place.line}:${place.column}: ${what}`);
    return [];
  }
  // Unknown fields are errors here, as in the reference: a misspelt one would give or refuse access to a registry without a sign.
  const { value, problems: wrong, warnings } = decodeObject(SCHEMA, read.tree);
  for (const finding of [...wrong, ...warnings]) {
    const { place, path: field, text: what } = finding;
    problems.push(`${path}:${place.line}:${place.column}: ${field === '' ? '' : `${field}: `}${what}`);
  }
  const { apiVersion, kind, providers } = value as {
    apiVersion?: string;
    kind?: string;
    providers?: readonly WrittenProvider[];
  };
  if (kind !== 'CredentialProviderConfig') {
    problems.push(`${path}: kind: must be CredentialProviderConfig, not ${JSON.stringify(kind ?? '')}`);
  }
  if (!FILE_VERSIONS.includes(apiVersion ?? '')) {
    problems.push(
      `${path}: apiVersion: must be one of ${FILE_VERSIONS.join(', ')}, not ${JSON.stringify(apiVersion ?? '')}`,
    );
  }
  return providers ?? [];
}

type Report = (field: string, what: string) => void;

function readProvider(written: WrittenProvider, gates: { readonly tokens: boolean }, report: Report): Provider {
  const { name = '', matchImages = [], apiVersion = '', args = [], env = [], tokenAttributes } = written;
  const nameProblem = judgeName(name);
  if (nameProblem !== undefined) report('.name', nameProblem);
  if (!PROTOCOLS.includes(apiVersion)) {
    report('.apiVersion', `must be one of ${PROTOCOLS.join(', ')}, not ${JSON.stringify(apiVersion)}`);
  }
  if (matchImages.length === 0) report('.matchImages', 'at least one is needed');
  for (const [index, pattern] of matchImages.entries()) {
    if (parseRegistryPlace(pattern) === undefined) {
      report(
        `.matchImages[${index}]`,
        `${JSON.stringify(pattern)} is no place in a registry, such as *.example.com/app`,
      );
    }
  }
  if (tokenAttributes !== undefined) judgeToken(tokenAttributes, { gates, apiVersion }, report);
  return {
    name,
    matchImages,
    apiVersion,
    args,
    env: env.map((one) => ({ name: one.name ?? '', value: one.value ?? '' })),
    defaultCacheMs: readCacheDuration(written.defaultCacheDuration, report),
    token: tokenAttributes === undefined ? undefined : readToken(tokenAttributes),
  };
}

function judgeName(name: string): string | undefined {
  if (name === '') return 'must be the name of a file';
  if (name === '.' || name === '..') return `cannot be ${JSON.stringify(name)}`;
  return /[/ ]/.test(name) ? `${JSON.stringify(name)} cannot contain slashes or spaces` : undefined;
}

function readCacheDuration(written: string | undefined, report: Report): number {
  const duration = written === undefined ? undefined : parseDuration(written);
  if (duration?.ok && duration.value >= 0) return duration.value;
  const what = duration === undefined ? 'must be given' : duration.ok ? 'must not be negative' : duration.problem;
  report('.defaultCacheDuration', what);
  return 0;
}

function judgeToken(
  written: WrittenToken,
  { gates, apiVersion }: { readonly gates: { readonly tokens: boolean }; readonly apiVersion: string },
  report: Report,
): void {
  const field = '.tokenAttributes';
  const { requiredServiceAccountAnnotationKeys: required = [], requireServiceAccount } = written;
  const { optionalServiceAccountAnnotationKeys: optional = [] } = written;
  if (!gates.tokens) {
    report(field, 'needs the feature gate KubeletServiceAccountTokenForCredentialProviders');
  }
  if (apiVersion !== PROTOCOL_V1) report(field, `needs apiVersion ${PROTOCOL_V1}`);
  if ((written.serviceAccountTokenAudience ?? '') === '')
    report(`${field}.serviceAccountTokenAudience`, 'must be given');
  if (requireServiceAccount === undefined) report(`${field}.requireServiceAccount`, 'must be true or false');
  if (!CACHE_TYPES.includes(written.cacheType ?? '')) {
    report(
      `${field}.cacheType`,
      `must be one of ${CACHE_TYPES.join(', ')}, not ${JSON.stringify(written.cacheType ?? '')}`,
    );
  }
  if (requireServiceAccount === false && required.length > 0) {
    report(`${field}.requiredServiceAccountAnnotationKeys`, 'cannot be given where requireServiceAccount is false');
  }
  const lists = { requiredServiceAccountAnnotationKeys: required, optionalServiceAccountAnnotationKeys: optional };
  for (const [name, keys] of Object.entries(lists)) {
    for (const [index, key] of keys.entries()) {
      const fault = labelKeyFault(key.toLowerCase());
      if (fault !== undefined) report(`${field}.${name}[${index}]`, `${JSON.stringify(key)} ${fault}`);
      if (keys.indexOf(key) < index) report(`${field}.${name}[${index}]`, `${JSON.stringify(key)} stands there twice`);
    }
  }
  const both = required.filter((key) => optional.includes(key));
  if (both.length > 0) report(field, `${both.join(', ')}: an annotation can't be both required and optional`);
}

function readToken(written: WrittenToken): TokenAttributes {
  return {
    audience: written.serviceAccountTokenAudience ?? '',
    cacheType: written.cacheType === 'Token' ? 'Token' : 'ServiceAccount',
    required: written.requireServiceAccount ?? true,
    requiredAnnotations: written.requiredServiceAccountAnnotationKeys ?? [],
    optionalAnnotations: written.optionalServiceAccountAnnotationKeys ?? [],
  };
}
