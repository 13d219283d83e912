import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { filesUse, readFileSystem } from './disk.ts';

test('the files directly in a directory, one file, and nothing', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'disk-'));
  t.after(() => rmSync(directory, { recursive: true }));
  mkdirSync(join(directory, 'below'));
  writeFileSync(join(directory, 'below', 'deep'), 'x'.repeat(10_000));
  writeFileSync(join(directory, 'a'), 'x'.repeat(10_000));
  symlinkSync('/etc/passwd', join(directory, 'link'));
  const one = await filesUse(join(directory, 'a'));
  assert.equal(one.inodes, 1);
  assert.ok(one.bytes >= 10_000 && one.bytes < 100_000);
  // A link counts as itself, whatever it leads to.
  assert.deepEqual(await filesUse(directory), { bytes: one.bytes, inodes: 2 });
  assert.deepEqual(await filesUse(join(directory, 'none')), { bytes: 0, inodes: 0 });
});

test('a file system', async () => {
  const found = (await readFileSystem('/')) ?? assert.fail('there is one');
  assert.ok(found.capacityBytes >= found.freeBytes && found.freeBytes >= found.availableBytes && found.inodes > 0);
  assert.equal(await readFileSystem('/no/such/path'), undefined);
});
