import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { diskBytes, processLimit } from './capacity.ts';

function directoryWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'capacity-'));
  t.after(() => rmSync(directory, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  return directory;
}

test('the smaller of the two limits of processes', (t) => {
  assert.equal(processLimit(directoryWith(t, { pid_max: '4194304\n', 'threads-max': '192000\n' })), 192_000n);
  assert.equal(processLimit(directoryWith(t, { pid_max: '32768\n' })), 32_768n);
  assert.equal(processLimit(directoryWith(t, {})), undefined);
});

test('a file system has a size', () => {
  assert.ok(diskBytes('/') > 0n);
  assert.throws(() => diskBytes('/nowhere/at/all'), /ENOENT/);
});
