import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readKernelSetting, writeKernelSetting } from './kernel-settings.ts';

test('a setting is read and written as a number; one that the kernel lacks is undefined', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'sysctl-'));
  t.after(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'vm'));
  writeFileSync(join(root, 'vm/overcommit_memory'), '0\n');
  assert.equal(readKernelSetting('vm/overcommit_memory', root), 0);
  writeKernelSetting('vm/overcommit_memory', 1, root);
  assert.equal(readKernelSetting('vm/overcommit_memory', root), 1);
  assert.equal(readKernelSetting('vm/none', root), undefined);
  assert.equal(typeof readKernelSetting('vm/overcommit_memory'), 'number');
});
