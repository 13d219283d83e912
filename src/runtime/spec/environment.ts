/**
 * The environment of a container. Later sources win over earlier ones: service variables, `envFrom`, `env`.
 * The reference sends variables in no particular order; ours come as they are declared, then those of services by name.
 */
import type {
  Container,
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  FileKeySelector,
  KeySelector,
} from '../../api/container.ts';
import { podFieldValue, resourceFieldValue } from '../../api/downward.ts';
import type { LocalObjectReference, ResourceList } from '../../api/meta.ts';
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import type { Pod } from '../../api/pod.ts';
import { isStaticPod } from '../../api/pod-traits.ts';
import { quoteText } from '../../base/go-text.ts';
import type { ServiceView } from '../../model/service.ts';
import { type EnvFileValues, envFileValue } from './env-file.ts';
import { byteLength, expand } from './expand.ts';
import { serviceEnvironment } from './services.ts';
import { type Gates, type SpecProblem, specProblem } from './settings.ts';

/** Secrets may hold bytes that are no text; they reach the container as they are. */
export type EnvValue = string | Uint8Array;

export interface EnvEntry {
  readonly name: string;
  readonly value: EnvValue;
}

/** A secret or config map of the pod's namespace as it was read for this container. */
export type ObjectData =
  | { readonly kind: 'found'; readonly data: ReadonlyMap<string, EnvValue> }
  | { readonly kind: 'missing'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string };

/** A file with variables on a volume of the pod. */
export type EnvFile =
  | { readonly kind: 'read'; readonly path: string; readonly values: EnvFileValues }
  | { readonly kind: 'no-volume' }
  | { readonly kind: 'failed'; readonly message: string };

export interface EnvironmentInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly podIps: readonly string[];
  readonly hostIps: readonly string[];
  readonly nodeAllocatable: ResourceList;
  /** Undefined until the services were read once; a static pod does not wait for them. */
  readonly services: readonly ServiceView[] | undefined;
  readonly configMap: (name: string) => ObjectData;
  readonly secret: (name: string) => ObjectData;
  readonly envFile: (volumeName: string, path: string) => EnvFile;
  /** From device plugins; they come first. */
  readonly extra: readonly EnvEntry[];
  readonly gates: Gates;
  /** Where the API server's own service is; `default` unless configured. */
  readonly masterNamespace?: string | undefined;
}

/** Linux executes nothing with a longer argument or `NAME=value`, its final zero byte included (MAX_ARG_STRLEN). */
const LONGEST_WORD = 128 * 1024;
/** Linux takes a quarter of the stack limit, by default 8 MiB, for all arguments and variables together. */
const LARGEST_ENVIRONMENT = 2 * 1024 * 1024;

export type EnvironmentResult = { readonly kind: 'ready'; readonly env: readonly EnvEntry[] } | SpecProblem;

export function makeEnvironment(input: EnvironmentInput): EnvironmentResult {
  const { pod, container } = input;
  const services = input.services ?? (isStaticPod(pod) ? [] : undefined);
  if (services === undefined) {
    return specProblem('services have not yet been read at least once, cannot construct envvars');
  }
  const links = pod.spec.enableServiceLinks ?? true;
  const serviceVariables = serviceEnvironment({
    services,
    namespace: pod.metadata.namespace,
    links,
    masterNamespace: input.masterNamespace ?? 'default',
  });
  const values = new Map<string, EnvValue>();
  // What a later value replaces counts as well: it was made.
  let made = 0;
  const set = (name: string, value: EnvValue): string | undefined => {
    const size = entrySize(name, value);
    made += size;
    values.set(name, value);
    if (size > LONGEST_WORD) return longVariable(name);
    return made > LARGEST_ENVIRONMENT ? `the environment ${TOO_LARGE}` : undefined;
  };
  for (const source of container.envFrom ?? []) {
    const data = readSource(source, input);
    if (!data.ok) return specProblem(data.problem);
    for (const [key, value] of data.value) {
      const fault = set(`${source.prefix ?? ''}${key}`, value);
      if (fault !== undefined) return specProblem(fault);
    }
  }
  const lookup = (name: string) => textOf(values.get(name)) ?? serviceVariables.get(name);
  for (const variable of container.env ?? []) {
    const value = readVariable(variable, input, lookup);
    if (!value.ok) return specProblem(value.problem);
    const fault = value.value === undefined ? undefined : set(variable.name, value.value);
    if (fault !== undefined) return specProblem(fault);
  }
  for (const [name, value] of serviceVariables) if (!values.has(name)) values.set(name, value);
  return { kind: 'ready', env: [...input.extra, ...[...values].map(([name, value]) => ({ name, value }))] };
}

/** With the values that stand in the container's own `env` only, as in the command of a probe. */
export function expandWithLiterals(
  words: readonly string[],
  { env = [] }: Pick<Container, 'env'>,
): Parsed<readonly string[]> {
  return expandAll(
    words,
    env.map(({ name, value = '' }) => ({ name, value })),
  );
}

/** The command and its arguments see the whole environment, and share the room that Linux has for both with it. */
export function expandAll(words: readonly string[] | undefined, env: readonly EnvEntry[]): Parsed<readonly string[]> {
  const lookup = createLookup(env);
  const expanded: string[] = [];
  let left = LARGEST_ENVIRONMENT - env.reduce((sum, { name, value }) => sum + entrySize(name, value), 0);
  for (const word of words ?? []) {
    const value = expand(word, lookup, LONGEST_WORD - 1);
    if (!value.ok) return unparsable(`an argument ${value.problem}, which Linux can't execute`);
    left -= byteLength(value.value) + 1;
    if (left < 0) return unparsable(`the command with its environment ${TOO_LARGE}`);
    expanded.push(value.value);
  }
  return parsed(expanded);
}

/** The last value of each name, as text. */
export function createLookup(env: readonly EnvEntry[]): Lookup {
  const values = new Map(env.map(({ name, value }) => [name, value]));
  return (name) => textOf(values.get(name));
}

const TOO_LARGE = `is larger than ${LARGEST_ENVIRONMENT} bytes, which Linux can't execute`;

/** What `NAME=value` and the zero byte behind it take. */
function entrySize(name: string, value: EnvValue): number {
  return byteLength(name) + (typeof value === 'string' ? byteLength(value) : value.length) + 2;
}

function longVariable(name: string): string {
  return `environment variable ${quoteText(name.slice(0, LONGEST_NAME_SHOWN))} is longer than ${LONGEST_WORD} bytes, which Linux can't execute`;
}

const LONGEST_NAME_SHOWN = 253;

/** The secrets and config maps that must be read before the environment can be made. */
export function environmentObjects(container: Container): {
  readonly configMaps: readonly string[];
  readonly secrets: readonly string[];
} {
  const sources = container.envFrom ?? [];
  const keys = (container.env ?? []).map(({ valueFrom }) => valueFrom);
  const names = (references: readonly (LocalObjectReference | undefined)[]) => [
    ...new Set(references.flatMap((reference) => reference?.name ?? [])),
  ];
  return {
    configMaps: names([...sources.map((source) => source.configMapRef), ...keys.map((key) => key?.configMapKeyRef)]),
    secrets: names([...sources.map((source) => source.secretRef), ...keys.map((key) => key?.secretKeyRef)]),
  };
}

/** Text of a value for use inside another one. */
function textOf(value: EnvValue | undefined): string | undefined {
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : value;
}

const NOTHING: ReadonlyMap<string, EnvValue> = new Map();

function readSource(source: EnvFromSource, input: EnvironmentInput): Parsed<ReadonlyMap<string, EnvValue>> {
  const reference = source.configMapRef ?? source.secretRef;
  if (reference === undefined) return parsed(NOTHING);
  const read = source.configMapRef === undefined ? input.secret : input.configMap;
  const object = read(reference.name ?? '');
  if (object.kind === 'found') return parsed(object.data);
  return object.kind === 'missing' && reference.optional ? parsed(NOTHING) : unparsable(object.message);
}

/** Undefined for a name that is not known. */
export type Lookup = (name: string) => string | undefined;

/** Undefined: the variable is optional and its source is not there. */
function readVariable(variable: EnvVar, input: EnvironmentInput, lookup: Lookup): Parsed<EnvValue | undefined> {
  if (variable.value) {
    const value = expand(variable.value, lookup, LONGEST_WORD);
    return value.ok ? value : unparsable(longVariable(variable.name));
  }
  return variable.valueFrom === undefined ? parsed('') : readValueFrom(variable.valueFrom, input);
}

function readValueFrom(from: EnvVarSource, input: EnvironmentInput): Parsed<EnvValue | undefined> {
  if (from.fieldRef !== undefined) {
    const version = from.fieldRef.apiVersion ?? 'v1';
    if (version !== 'v1') return unparsable(`unsupported pod version: ${version}`);
    return podFieldValue(input.pod, from.fieldRef.fieldPath, input);
  }
  if (from.resourceFieldRef !== undefined) {
    const podLevel = input.gates('PodLevelResources');
    return resourceFieldValue({ ...input, selector: from.resourceFieldRef, podLevel });
  }
  if (from.configMapKeyRef !== undefined) return readKey('ConfigMap', from.configMapKeyRef, input);
  if (from.secretKeyRef !== undefined) return readKey('Secret', from.secretKeyRef, input);
  if (from.fileKeyRef !== undefined && input.gates('EnvFiles')) return readFileKey(from.fileKeyRef, input);
  return parsed('');
}

function readKey(
  kind: 'ConfigMap' | 'Secret',
  selector: KeySelector,
  input: EnvironmentInput,
): Parsed<EnvValue | undefined> {
  const name = selector.name ?? '';
  const object = kind === 'Secret' ? input.secret(name) : input.configMap(name);
  if (object.kind !== 'found') {
    return object.kind === 'missing' && selector.optional ? parsed(undefined) : unparsable(object.message);
  }
  const value = object.data.get(selector.key);
  if (value !== undefined || selector.optional) return parsed(value);
  return unparsable(`couldn't find key ${selector.key} in ${kind} ${input.pod.metadata.namespace}/${name}`);
}

function readFileKey(selector: FileKeySelector, input: EnvironmentInput): Parsed<EnvValue | undefined> {
  const file = input.envFile(selector.volumeName, selector.path);
  if (file.kind === 'no-volume') {
    return unparsable(`cannot find the volume ${quoteText(selector.volumeName)} referenced by FileKeyRef`);
  }
  if (file.kind === 'failed') return unparsable(`couldn't parse env file: ${file.message}`);
  const value = envFileValue(file.values, selector.key);
  if (!value.ok) return unparsable(`couldn't parse env file: ${value.problem}`);
  // An empty value is taken for a missing one, as a container made by the reference would have it.
  if (value.value) return value;
  if (selector.optional) return parsed(undefined);
  return unparsable(`environment variable key ${quoteText(selector.key)} not found in file ${quoteText(file.path)}`);
}
