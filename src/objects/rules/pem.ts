/** PEM text: the blocks in it, without what stands between them, and new text of blocks. */
const BLOCK = /-----BEGIN ([^-\r\n]+)-----\r?\n([\s\S]*?)-----END \1-----/g;
const HEADER = /^[^:\r\n]+:.*$/gm;
const WHOLE = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The contents (base64 without line breaks) of all blocks that can be read, of whatever type. */
export function pemBlocks(text: string): readonly string[] {
  const contents = [...text.matchAll(BLOCK)].map(([, , inside = '']) => inside.replace(HEADER, '').replace(/\s+/g, ''));
  return contents.filter((content) => content !== '' && WHOLE.test(content));
}

export function certificatePem(contents: readonly string[]): string {
  return contents
    .map((content) => `-----BEGIN CERTIFICATE-----\n${linesOf(content)}-----END CERTIFICATE-----\n`)
    .join('');
}

const linesOf = (content: string) => (content.match(/.{1,64}/g) ?? []).map((line) => `${line}\n`).join('');
