/** PEM text: reads the blocks in it, without the text between them, and writes blocks. */
const BEGIN = /-----BEGIN ([^-\r\n]+)-----\r?\n/g;
const HEADER = /^[^:\r\n]+:.*$/gm;
const WHOLE = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The contents (base64 without line breaks) of all blocks that can be read, of whatever type. */
export function pemBlocks(text: string): readonly string[] {
  const contents = Array.from(insides(text), (inside) => inside.replace(HEADER, '').replace(/\s+/g, ''));
  return contents.filter((content) => content !== '' && WHOLE.test(content));
}

/** The text between the first and the last line of each block. */
function* insides(text: string): Generator<string> {
  // Types without an end line: each is searched for only once, however often it begins.
  const endless = new Set<string>();
  let from = 0;
  for (const { 0: line, 1: type = '', index } of text.matchAll(BEGIN)) {
    if (index < from || endless.has(type)) continue;
    const end = `-----END ${type}-----`;
    const inside = index + line.length;
    const close = text.indexOf(end, inside);
    if (close < 0) endless.add(type);
    else {
      yield text.slice(inside, close);
      from = close + end.length;
    }
  }
}

export function certificatePem(contents: readonly string[]): string {
  return contents
    .map((content) => `-----BEGIN CERTIFICATE-----\n${linesOf(content)}-----END CERTIFICATE-----\n`)
    .join('');
}

const linesOf = (content: string) => (content.match(/.{1,64}/g) ?? []).map((line) => `${line}\n`).join('');
