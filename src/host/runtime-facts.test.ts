import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { hugePageSizes, pageSize, readRuntimeFacts, thermalPaths } from './runtime-facts.ts';

test('page sizes and thermal directories are read from the files of the kernel', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'runtime-facts-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const name of ['huge/hugepages-64kB', 'huge/hugepages-2048kB', 'huge/hugepages-1048576kB', 'huge/other'])
    mkdirSync(join(root, name), { recursive: true });
  mkdirSync(join(root, 'cpu/cpu2/thermal_throttle'), { recursive: true });
  writeFileSync(join(root, 'smaps'), 'Size: 4 kB\nKernelPageSize:       64 kB\nMMUPageSize:  64 kB\n');
  assert.deepEqual(hugePageSizes(join(root, 'huge')).toSorted(), ['1GB', '2MB', '64KB']);
  assert.deepEqual(hugePageSizes(join(root, 'none')), []);
  assert.equal(pageSize(join(root, 'smaps')), 65_536);
  assert.deepEqual(thermalPaths([0, 2], join(root, 'cpu')), [join(root, 'cpu/cpu2/thermal_throttle')]);
});

test('this machine has whole pages and some memory', () => {
  const facts = readRuntimeFacts();
  assert.equal(facts.pageSize % 4096, 0);
  assert.ok(facts.memoryCapacity > 0n);
});
