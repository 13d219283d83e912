/** The pages for a directory or a file of logs, for browsers and `kubectl get --raw`. */
const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' };
const FIRST_BYTES = 512;

export function directoryPage(names: readonly string[]): string {
  const lines = names.map((name) => {
    // A colon in the first segment would be read as a scheme.
    const link = encodeURI(name).replaceAll('?', '%3F').replaceAll('#', '%23');
    return `<a href="${name.includes(':') ? './' : ''}${link}">${escapeHtml(name)}</a>\n`;
  });
  return `<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${lines.join('')}</pre>\n`;
}

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => HTML[char] ?? char);

/** From its name, and from its first bytes if it is not text. */
export function contentType(name: string, first: Uint8Array): string {
  if (name.endsWith('.gz')) return 'application/gzip';
  return first.subarray(0, FIRST_BYTES).includes(0) ? 'application/octet-stream' : 'text/plain; charset=utf-8';
}

export interface Range {
  readonly from: number;
  /** Not included. */
  readonly to: number;
}

/** One range of bytes; undefined for the whole file, which is also the answer to several ranges; `none` if it is beyond the end. */
export function parseRange(header: string | undefined, size: number): Range | 'none' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') return size === 0 ? 'none' : { from: Math.max(0, size - Number(last)), to: size };
  if (Number(first) >= size) return 'none';
  if (last !== '' && Number(last) < Number(first)) return undefined;
  return { from: Number(first), to: last === '' ? size : Math.min(size, Number(last) + 1) };
}
