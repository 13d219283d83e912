/** Writes tar archives whose bytes depend on nothing but what is in them: no time, no user of this machine. */
export type TarEntry =
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly mode?: number;
      readonly owner?: Ownership;
      readonly content: Buffer;
    }
  | { readonly kind: 'directory'; readonly path: string; readonly mode?: number; readonly owner?: Ownership }
  | { readonly kind: 'symlink'; readonly path: string; readonly target: string; readonly owner?: Ownership };

export interface Ownership {
  readonly uid: number;
  readonly gid: number;
}

const BLOCK = 512;
const NAME_LENGTH = 100;
const PREFIX_LENGTH = 155;
const TYPE_FLAGS = { file: '0', symlink: '2', directory: '5' } as const;
const DEFAULT_MODES = { file: 0o644, symlink: 0o777, directory: 0o755 } as const;

export function writeTar(entries: readonly TarEntry[]): Buffer {
  const blocks: Buffer[] = [];
  for (const entry of entries) {
    const content = entry.kind === 'file' ? entry.content : Buffer.alloc(0);
    blocks.push(header(entry, content.length), content, Buffer.alloc(padding(content.length)));
  }
  blocks.push(Buffer.alloc(2 * BLOCK));
  return Buffer.concat(blocks);
}

function header(entry: TarEntry, size: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  const path = entry.path.replace(/^\/+/, '') + (entry.kind === 'directory' && !entry.path.endsWith('/') ? '/' : '');
  const target = 'target' in entry ? entry.target : '';
  if (Buffer.byteLength(target) > NAME_LENGTH) throw tooLong(target);
  const { prefix, name } = splitPath(path);
  const mode = 'mode' in entry && entry.mode !== undefined ? entry.mode : DEFAULT_MODES[entry.kind];
  block.write(name, 0);
  block.write(octal(mode, 7), 100);
  block.write(octal(entry.owner?.uid ?? 0, 7), 108);
  block.write(octal(entry.owner?.gid ?? 0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(0, 11), 136); // modification time
  block.write(' '.repeat(8), 148); // the checksum counts itself as blanks
  block.write(TYPE_FLAGS[entry.kind], 156);
  block.write(target, 157);
  block.write('ustar\x0000', 257);
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148);
  return block;
}

/** The header has a second field for the first directories of a long path. */
function splitPath(path: string): { prefix: string; name: string } {
  if (Buffer.byteLength(path) <= NAME_LENGTH) return { prefix: '', name: path };
  for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
    const [prefix, name] = [path.slice(0, slash), path.slice(slash + 1)];
    if (name === '' || Buffer.byteLength(prefix) > PREFIX_LENGTH) break;
    if (Buffer.byteLength(name) <= NAME_LENGTH) return { prefix, name };
  }
  throw tooLong(path);
}

const tooLong = (name: string): Error => new Error(`tar: name longer than ${NAME_LENGTH} bytes: ${name}`);

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');
const padding = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;
