/** Writes tar archives whose bytes depend on nothing but what is in them: no time, no user of this machine. */
export type TarEntry =
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly mode?: number;
      readonly owner?: Ownership;
      readonly content: Buffer;
    }
  | { readonly kind: 'folder'; readonly path: string; readonly mode?: number; readonly owner?: Ownership }
  | { readonly kind: 'symlink'; readonly path: string; readonly target: string; readonly owner?: Ownership };

export interface Ownership {
  readonly uid: number;
  readonly gid: number;
}

const BLOCK = 512;
const NAME_LENGTH = 100;
const TYPE_FLAGS = { file: '0', symlink: '2', folder: '5' } as const;
const DEFAULT_MODES = { file: 0o644, symlink: 0o777, folder: 0o755 } as const;

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
  const path = entry.path.replace(/^\/+/, '') + (entry.kind === 'folder' && !entry.path.endsWith('/') ? '/' : '');
  const target = 'target' in entry ? entry.target : '';
  for (const name of [path, target]) {
    if (Buffer.byteLength(name) > NAME_LENGTH) throw new Error(`tar: name longer than ${NAME_LENGTH} bytes: ${name}`);
  }
  const mode = 'mode' in entry && entry.mode !== undefined ? entry.mode : DEFAULT_MODES[entry.kind];
  block.write(path, 0);
  block.write(octal(mode, 7), 100);
  block.write(octal(entry.owner?.uid ?? 0, 7), 108);
  block.write(octal(entry.owner?.gid ?? 0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(0, 11), 136); // modification time
  block.write(' '.repeat(8), 148); // the checksum counts itself as blanks
  block.write(TYPE_FLAGS[entry.kind], 156);
  block.write(target, 157);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148);
  return block;
}

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');
const padding = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;
