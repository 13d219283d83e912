/** Names of images: which registry and repository they mean, and the form in which the runtime gets them. The grammar is that of distribution registries. */
import { type Parsed, shorten } from '../../api/parsed.ts';
import { quoteText } from '../../base/go-text.ts';

export interface ImageName {
  /** With the registry, `docker.io/library/` filled in where the name has none: what credentials are looked up by. */
  readonly repository: string;
  /** `latest` where the name has neither tag nor digest; empty where it has only a digest. */
  readonly tag: string;
  /** Such as `sha256:…`, or empty. */
  readonly digest: string;
}

const DEFAULT_REGISTRY = 'docker.io';
const OLD_DEFAULT_REGISTRY = 'index.docker.io';
const OFFICIAL = 'library/';
const LONGEST_PATH = 255;
/** Four times what a path, a tag and the longest digest take; the rest is for the name of the registry. */
const LONGEST_NAME = 2048;

const LABEL = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const HOST = `(?:${LABEL}(?:\\.${LABEL})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const STEP = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const PATH = `${STEP}(?:/${STEP})*`;
const TAG = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}';
const DIGEST = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';
const NAME = new RegExp(`^(?:(?<host>${HOST})/)?(?<path>${PATH})$`);
const REFERENCE = new RegExp(`^(?<name>(?:${HOST}/)?${PATH})(?::(?<tag>${TAG}))?(?:@(?<digest>${DIGEST}))?$`);
const BARE_ID = /^[a-f0-9]{64}$/;

/** Hexadecimal digits of each digest that can be checked. */
const DIGEST_LENGTHS: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };

export function parseImageName(image: string): Parsed<ImageName> {
  if (image.length > LONGEST_NAME) return { ok: false, problem: tooLong(image) };
  const parsed = parseNormalized(image);
  if (!parsed.ok) return { ok: false, problem: `couldn't parse image name ${quoteText(image)}: ${parsed.problem}` };
  const { name, tag, digest } = parsed.value;
  return {
    ok: true,
    value: { repository: name, tag: tag === '' && digest === '' ? 'latest' : tag, digest },
  };
}

/** The name as the runtime gets it: with `:latest` where it has neither tag nor digest, otherwise as it was written. */
export function withDefaultTag(image: string): Parsed<string> {
  const parsed = parseImageName(image);
  if (!parsed.ok) return parsed;
  const { tag, digest } = parsed.value;
  const complete = digest !== '' || tag === '' || image.endsWith(`:${tag}`);
  return { ok: true, value: complete ? image : `${image}:${tag}` };
}

/** The name as it was written, without tag and digest: what pull records and allow lists go by. */
export function withoutTagAndDigest(image: string): Parsed<string> {
  if (image.length > LONGEST_NAME) return { ok: false, problem: tooLong(image) };
  const parsed = parseReference(image);
  return parsed.ok ? { ok: true, value: parsed.value.name } : parsed;
}

function tooLong(image: string): string {
  return `couldn't parse image name ${shorten(image)}: it is longer than ${LONGEST_NAME} characters`;
}

/** Whether one of these full names, as runtimes list them, is what `image` means. */
export function isCalled(image: string, fullNames: readonly string[]): boolean {
  const name = parseImageName(image);
  if (!name.ok) return false;
  const { repository, tag, digest } = name.value;
  return fullNames.includes(digest === '' ? `${repository}:${tag}` : `${repository}@${digest}`);
}

interface Reference {
  readonly name: string;
  readonly tag: string;
  readonly digest: string;
}

function parseNormalized(image: string): Parsed<Reference> {
  if (BARE_ID.test(image)) {
    return {
      ok: false,
      problem: `invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`,
    };
  }
  const { registry, rest } = splitRegistry(image);
  const [path = ''] = rest.split(':');
  if (path !== path.toLowerCase()) {
    return { ok: false, problem: `invalid reference format: repository name (${path}) must be lowercase` };
  }
  return parseReference(`${registry}/${rest}`);
}

function splitRegistry(image: string): { readonly registry: string; readonly rest: string } {
  const slash = image.indexOf('/');
  const first = image.slice(0, Math.max(slash, 0));
  const isRegistry = slash >= 0 && (first === 'localhost' || /[.:]/.test(first) || first !== first.toLowerCase());
  const registry = isRegistry && first !== OLD_DEFAULT_REGISTRY ? first : DEFAULT_REGISTRY;
  const rest = isRegistry ? image.slice(slash + 1) : image;
  return { registry, rest: registry === DEFAULT_REGISTRY && !rest.includes('/') ? `${OFFICIAL}${rest}` : rest };
}

function parseReference(text: string): Parsed<Reference> {
  const groups = REFERENCE.exec(text)?.groups;
  if (groups === undefined) return { ok: false, problem: whyNoReference(text) };
  const { name = '', tag = '', digest = '' } = groups;
  const path = NAME.exec(name)?.groups?.['path'] ?? name;
  if (path.length > LONGEST_PATH) {
    return { ok: false, problem: `repository name must not be more than ${LONGEST_PATH} characters` };
  }
  const fault = digest === '' ? undefined : digestFault(digest);
  return fault === undefined ? { ok: true, value: { name, tag, digest } } : { ok: false, problem: fault };
}

function whyNoReference(text: string): string {
  if (text === '') return 'repository name must have at least one component';
  return REFERENCE.test(text.toLowerCase()) ? 'repository name must be lowercase' : 'invalid reference format';
}

function digestFault(digest: string): string | undefined {
  const [algorithm = '', hex = ''] = digest.split(':');
  const length = DIGEST_LENGTHS[algorithm];
  if (length === undefined) return 'unsupported digest algorithm';
  if (hex.length !== length) return 'invalid checksum digest length';
  return hex === hex.toLowerCase() ? undefined : 'invalid checksum digest format';
}
