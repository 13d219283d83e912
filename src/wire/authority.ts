/**
 * Older Go clients of a Unix socket name its path as the authority of their requests: `/var/lib/kubelet/device-plugins/kubelet.sock`. That is no
 * authority, and Node's HTTP/2 refuses such a request before anyone sees it. Device plugins in the field do it, so the value is replaced on its way in.
 *
 * Values are replaced as they stand in the header block (RFC 7541), without decoding it: the client's and the server's tables have the same
 * entries in the same order, and only the length of one of them differs.
 */
import { Duplex } from 'node:stream';

const PREFACE_BYTES = 24;
const FRAME_HEADER_BYTES = 9;
const HEADERS = 1;
const PADDED = 0x8;
const PRIORITY = 0x20;
/** The largest frame that a client may send without being allowed more. */
const LARGEST_FRAME = 16_384;
/** `:authority` in the static table. */
const AUTHORITY = 1;
const REPLACEMENT = Buffer.from('\x09localhost', 'latin1');

/** What comes from the socket reaches the server with another authority; everything else passes as it is. */
export function withoutAuthority(socket: Duplex): Duplex {
  const replace = createAuthorityFilter();
  const filtered = new Duplex({
    read: () => void socket.resume(),
    write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, done),
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  socket.on('data', (chunk: Buffer) => {
    for (const part of replace(chunk)) if (!filtered.push(part)) socket.pause();
  });
  socket.on('end', () => filtered.push(null));
  socket.on('error', (error) => filtered.destroy(error));
  socket.on('close', () => filtered.destroy());
  return filtered;
}

/** Frames other than headers are not collected: they go on as they come. */
export function createAuthorityFilter(): (chunk: Buffer) => readonly Buffer[] {
  let passing = PREFACE_BYTES;
  let pending: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const out: Buffer[] = [];
    let rest = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    while (rest.length > 0) {
      if (passing > 0) {
        const part = rest.subarray(0, passing);
        out.push(part);
        passing -= part.length;
        rest = rest.subarray(part.length);
        continue;
      }
      if (rest.length < FRAME_HEADER_BYTES) break;
      const size = FRAME_HEADER_BYTES + rest.readUIntBE(0, 3);
      if (rest[3] !== HEADERS || size > FRAME_HEADER_BYTES + LARGEST_FRAME) {
        passing = size;
        continue;
      }
      if (rest.length < size) break;
      out.push(replaceInFrame(rest.subarray(0, size)));
      rest = rest.subarray(size);
    }
    // Node uses the memory of a chunk again.
    pending = Buffer.from(rest);
    return out;
  };
}

function replaceInFrame(frame: Buffer): Buffer {
  const flags = frame[4] ?? 0;
  const padding = flags & PADDED ? (frame[FRAME_HEADER_BYTES] ?? 0) : 0;
  const begin = FRAME_HEADER_BYTES + (flags & PADDED ? 1 : 0) + (flags & PRIORITY ? 5 : 0);
  const value = findAuthority(frame.subarray(0, frame.length - padding), begin);
  if (value === undefined) return frame;
  const replaced = Buffer.concat([frame.subarray(0, value.begin), REPLACEMENT, frame.subarray(value.end)]);
  replaced.writeUIntBE(replaced.length - FRAME_HEADER_BYTES, 0, 3);
  return replaced;
}

interface Place {
  readonly begin: number;
  readonly end: number;
}

/** Where the value stands, its length included; undefined where there is none, or where the block is not what it should be. */
function findAuthority(block: Buffer, begin: number): Place | undefined {
  for (let at = begin; at < block.length; ) {
    const first = block[at] ?? 0;
    const isIndexed = (first & 0x80) !== 0;
    const isSizeUpdate = (first & 0xe0) === 0x20;
    const name = readInteger(block, at, isIndexed ? 7 : (first & 0x40) !== 0 ? 6 : isSizeUpdate ? 5 : 4);
    if (name === undefined) return undefined;
    at = name.end;
    if (isIndexed || isSizeUpdate) continue;
    const ownName = name.value === 0 ? readText(block, at) : { begin: at, end: at };
    const value = ownName && readText(block, ownName.end);
    if (value === undefined) return undefined;
    if (name.value === AUTHORITY) return value;
    at = value.end;
  }
  return undefined;
}

function readText(block: Buffer, at: number): Place | undefined {
  const length = readInteger(block, at, 7);
  if (length === undefined || length.end + length.value > block.length) return undefined;
  return { begin: at, end: length.end + length.value };
}

/** An integer that begins in the low bits of a byte. */
function readInteger(
  block: Buffer,
  at: number,
  bits: number,
): { readonly value: number; readonly end: number } | undefined {
  const most = 2 ** bits - 1;
  const first = (block[at] ?? 0) & most;
  if (at >= block.length || first < most) return at < block.length ? { value: first, end: at + 1 } : undefined;
  let value = most;
  for (let index = 1; index <= 4; index += 1) {
    const byte = block[at + index];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 128 ** (index - 1);
    if ((byte & 0x80) === 0) return { value, end: at + index + 1 };
  }
  return undefined;
}
