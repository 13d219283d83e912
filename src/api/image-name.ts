/** Just enough of an image's name to know how it is pulled; the runtime reads the rest. */
const DOMAIN =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?$/;
const PATH = /^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*)*$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const DIGEST = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;

/** The tag, `latest` where the name has neither tag nor digest, and undefined where it has only a digest or is no image name. */
export function imageTag(image: string): string | undefined {
  const [named = '', digest, ...more] = image.split('@');
  const colon = named.lastIndexOf(':');
  const tagged = colon > named.lastIndexOf('/');
  const repository = tagged ? named.slice(0, colon) : named;
  const tag = tagged ? named.slice(colon + 1) : undefined;
  if (more.length > 0 || !isRepository(repository)) return undefined;
  if ((tag !== undefined && !TAG.test(tag)) || (digest !== undefined && !DIGEST.test(digest))) return undefined;
  return tag ?? (digest === undefined ? 'latest' : undefined);
}

function isRepository(name: string): boolean {
  const slash = name.indexOf('/');
  const first = name.slice(0, Math.max(slash, 0));
  const isDomain = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
  return isDomain ? DOMAIN.test(first) && PATH.test(name.slice(slash + 1)) : PATH.test(name);
}

/** An image without a fixed name can be another one tomorrow. */
export function pullPolicyOf(image: string): 'Always' | 'IfNotPresent' {
  return imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent';
}
