const hostLabel = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const host = `(?:${hostLabel}(?:\\.${hostLabel})*|\\[[a-fA-F0-9:]+\\])`;
const component = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const imageName = new RegExp(`^(?:${host}(?::[0-9]+)?/)?${component}(?:/${component})*$`);
const longestName = 255;

/** The problem of an entry of `preloadedImagesVerificationAllowlist`: an image without tag, or `registry/path/*`. */
export function imagePatternFault(pattern: string): string | undefined {
  if (pattern !== pattern.trim()) return 'must not begin or end with a space';
  const isWildcard = pattern.endsWith('/*');
  const fixed = isWildcard ? pattern.slice(0, -1) : pattern;
  if (fixed === '' || fixed === '/') return 'must name at least a registry host';
  if (fixed.includes('*')) return "may have a '*' only as its last part, after a slash";
  if (isWildcard) return undefined;
  if (fixed.length > longestName || !imageName.test(fixed)) {
    return 'must be the name of an image (registry.example/path/name), without tag and digest';
  }
  return undefined;
}
