/** Whether credentials or a plugin that name a place in a registry (`*.example.com:5000/team`) are meant for an image. */
export interface RegistryPlace {
  /** Labels of the host name, `*` standing for any text within one. */
  readonly labels: readonly string[];
  readonly port: string;
  /** Empty, or beginning with a slash. */
  readonly path: string;
}

const HOST = /^(?:\[[0-9a-fA-F:.%]+\]|[^\s"<>[\]\\^`{|}:]*)(?::[0-9]*)?$/;
const BROKEN_ESCAPE = /%(?![0-9a-fA-F]{2})/;

/** Undefined for text that can be no place in a registry. Query and fragment are ignored. */
export function parseRegistryPlace(text: string): RegistryPlace | undefined {
  const bare = text.split(/[?#]/, 1)[0] ?? '';
  const slash = bare.indexOf('/');
  const authority = slash < 0 ? bare : bare.slice(0, slash);
  const path = slash < 0 ? '' : bare.slice(slash);
  const hostAndPort = authority.slice(authority.lastIndexOf('@') + 1);
  if (!HOST.test(hostAndPort) || BROKEN_ESCAPE.test(bare) || hasControl(text)) return undefined;
  const [, host = hostAndPort, port = ''] = /^(.*):([0-9]*)$/.exec(hostAndPort) ?? [];
  return { labels: host.split('.'), port, path: unescapePath(path) };
}

function hasControl(text: string): boolean {
  return [...text].some((char) => char < ' ' || char === '\x7f');
}

function unescapePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // Bytes that are no UTF-8: no image name has such a path, so it matches nothing either way.
    return path;
  }
}

/** Same port, the same number of labels that all match, and a path that begins the image's. */
export function placeMatches(pattern: RegistryPlace, image: RegistryPlace): boolean {
  return (
    pattern.port === image.port &&
    pattern.labels.length === image.labels.length &&
    image.path.startsWith(pattern.path) &&
    pattern.labels.every((label, at) => labelMatches(label, image.labels[at] ?? ''))
  );
}

export function textMatches(pattern: string, image: string): boolean {
  const place = parseRegistryPlace(pattern);
  const target = parseRegistryPlace(image);
  return place !== undefined && target !== undefined && placeMatches(place, target);
}

function labelMatches(pattern: string, label: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return pattern === label;
  if (!label.startsWith(first)) return false;
  const last = rest.pop() ?? '';
  let at = first.length;
  for (const piece of rest) {
    const found = label.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return label.length - last.length >= at && label.endsWith(last);
}
