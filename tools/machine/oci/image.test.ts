import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { captureOk } from '../capture.ts';
import { archiveKey, type ImageSpec, makeImage, writeArchive } from './image.ts';
import { type TarEntry, writeTar } from './tar.ts';

const ENTRIES: readonly TarEntry[] = [
  { kind: 'directory', path: 'tmp', mode: 0o1777 },
  { kind: 'file', path: '/bin/tool', mode: 0o4755, content: Buffer.from('#!/bin/sh\n'), owner: { uid: 1000, gid: 50 } },
  { kind: 'file', path: 'empty', content: Buffer.alloc(0) },
  { kind: 'file', path: 'block', content: Buffer.alloc(512, 'x') },
  { kind: 'symlink', path: 'bin/alias', target: 'tool' },
];

async function listed(archive: Buffer): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-ts-tar-'));
  try {
    await writeFile(join(directory, 'a.tar'), archive);
    return (await captureOk(['tar', '--numeric-owner', '--utc', '-tvf', join(directory, 'a.tar')])).stdout;
  } finally {
    await rm(directory, { recursive: true });
  }
}

test('tar itself reads what was written', async () => {
  const expected = [
    'drwxrwxrwt 0/0               0 1970-01-01 00:00 tmp/',
    '-rwsr-xr-x 1000/50          10 1970-01-01 00:00 bin/tool',
    '-rw-r--r-- 0/0               0 1970-01-01 00:00 empty',
    '-rw-r--r-- 0/0             512 1970-01-01 00:00 block',
    'lrwxrwxrwx 0/0               0 1970-01-01 00:00 bin/alias -> tool',
    '',
  ];
  assert.deepEqual((await listed(writeTar(ENTRIES))).split('\n'), expected);
});

test('a long path is split between the two fields that tar has for it', async () => {
  const path = `var/registry/${'a'.repeat(64)}/${'b'.repeat(60)}/data`;
  const listing = await listed(writeTar([{ kind: 'file', path, content: Buffer.from('x') }]));
  assert.equal(listing.trim().split(' ').at(-1), path);
});

test('a name that tar has no room for is refused', () => {
  assert.throws(() => writeTar([{ kind: 'directory', path: 'x'.repeat(100) }]), /longer than 100 bytes/);
});

const spec = (change: Partial<ImageSpec> = {}): ImageSpec => ({
  names: ['lab.local/a:1'],
  layers: [ENTRIES],
  config: { Entrypoint: ['/bin/tool'] },
  ...change,
});

test('digests are those of the bytes, and the same content has the same one', () => {
  const image = makeImage(spec());
  for (const blob of [...image.layers, image.config, image.manifest]) {
    assert.equal(blob.digest, `sha256:${createHash('sha256').update(blob.content).digest('hex')}`);
  }
  assert.equal(makeImage(spec()).manifest.digest, image.manifest.digest);
  assert.notEqual(makeImage(spec({ config: { User: '1' } })).manifest.digest, image.manifest.digest);
  assert.notEqual(makeImage(spec({ layers: [ENTRIES.slice(1)] })).manifest.digest, image.manifest.digest);
});

test('an archive holds every blob once, and every name', async () => {
  const one = makeImage(spec());
  const two = makeImage(spec({ names: ['lab.local/b:1', 'lab.local/c:2'] }));
  const archive = writeArchive([one, two]);
  const names = (await listed(archive))
    .trim()
    .split('\n')
    .map((line) => line.split(' ').at(-1));
  assert.equal(names.filter((name) => name?.startsWith('blobs/sha256/') && name !== 'blobs/sha256/').length, 3);
  const text = archive.toString('latin1');
  for (const name of ['lab.local/a:1', 'lab.local/b:1', 'lab.local/c:2']) assert.ok(text.includes(`"${name}"`));
  assert.notEqual(archiveKey([one]), archiveKey([two]), 'another name is another archive');
});
