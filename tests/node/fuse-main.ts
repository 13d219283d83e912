/**
 * A file system of one directory with one file, served over /dev/fuse by this process: `fuse-main.ts FOLDER`. Stopped with SIGSTOP
 * it is a file system that hangs. The numbers are the kernel's (linux/fuse.h, protocol 7.31).
 */
import { openSync, readSync, writeSync } from 'node:fs';
import { createFileCalls } from '../../src/host/file-calls.ts';

const [, , target = ''] = process.argv;
const O_RDWR = 2;
const HEADER = 16;
const OPERATION = {
  lookup: 1,
  forget: 2,
  getattr: 3,
  open: 14,
  read: 15,
  statfs: 17,
  release: 18,
  init: 26,
  opendir: 27,
  readdir: 28,
  releasedir: 29,
  batchForget: 42,
};
const ENOENT = 2;
const ENOSYS = 38;
const ROOT = 1n;
const FILE = 2n;
const CONTENT = Buffer.from('from afar\n');

const device = openSync('/dev/fuse', O_RDWR);
createFileCalls().mount({
  source: 'afar',
  target,
  type: 'fuse',
  data: `fd=${device},rootmode=40000,user_id=0,group_id=0,allow_other`,
});
console.log('mounted');

/** struct fuse_attr */
function attributes(node: bigint): Buffer {
  const attr = Buffer.alloc(88);
  attr.writeBigUInt64LE(node, 0);
  attr.writeBigUInt64LE(node === FILE ? BigInt(CONTENT.length) : 0n, 8);
  attr.writeUInt32LE(node === FILE ? 0o100644 : 0o40755, 60);
  attr.writeUInt32LE(1, 64);
  return attr;
}

/** Nothing is remembered by the kernel: every look asks again. */
const entry = (node: bigint) => {
  const head = Buffer.alloc(40);
  head.writeBigUInt64LE(node, 0);
  return Buffer.concat([head, attributes(node)]);
};

function init(): Buffer {
  const out = Buffer.alloc(64);
  out.writeUInt32LE(7, 0);
  out.writeUInt32LE(31, 4);
  out.writeUInt32LE(4096, 20);
  return out;
}

function answer(operation: number, node: bigint, body: Buffer): Buffer | number | undefined {
  switch (operation) {
    case OPERATION.init:
      return init();
    case OPERATION.lookup:
      return node === ROOT && body.toString('utf8', 0, body.indexOf(0)) === 'file' ? entry(FILE) : -ENOENT;
    case OPERATION.getattr:
      return Buffer.concat([Buffer.alloc(16), attributes(node)]);
    case OPERATION.open:
    case OPERATION.opendir:
      return Buffer.alloc(16);
    case OPERATION.read:
      return CONTENT.subarray(Number(body.readBigUInt64LE(8)));
    case OPERATION.readdir:
      return Buffer.alloc(0);
    case OPERATION.statfs:
      return Buffer.alloc(80);
    case OPERATION.release:
    case OPERATION.releasedir:
      return Buffer.alloc(0);
    case OPERATION.forget:
    case OPERATION.batchForget:
      return undefined;
    default:
      return -ENOSYS;
  }
}

const request = Buffer.alloc(1024 * 1024 + 4096);
for (;;) {
  const length = readSync(device, request);
  if (length === 0) break;
  const unique = request.readBigUInt64LE(8);
  const reply = answer(request.readUInt32LE(4), request.readBigUInt64LE(16), request.subarray(40, length));
  if (reply === undefined) continue;
  const body = typeof reply === 'number' ? Buffer.alloc(0) : reply;
  const head = Buffer.alloc(HEADER);
  head.writeUInt32LE(HEADER + body.length, 0);
  head.writeInt32LE(typeof reply === 'number' ? reply : 0, 4);
  head.writeBigUInt64LE(unique, 8);
  writeSync(device, Buffer.concat([head, body]));
}
