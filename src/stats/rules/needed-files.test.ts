import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAbsentFiles } from './absent-files.ts';
import { cgroupV1 } from './cgroup-v1.ts';
import { cgroupV2 } from './cgroup-v2.ts';
import { type Depth, onlyNeeded } from './needed-files.ts';
import type { CgroupReader } from './sample.ts';

/** The files that are read of one cgroup in which every file is there. */
function readsOf(reader: CgroupReader, depth: Depth): readonly string[] {
  const reads: string[] = [];
  const read = onlyNeeded(depth, (_, file) => {
    reads.push(file);
    return '1\n';
  });
  const spec = reader.spec(() => '1\n');
  reader.cpu(read, spec);
  reader.memory(read, spec);
  if (depth !== 'basic') reader.io(read);
  return [...new Set(reads)].toSorted();
}

test('CPU and memory need few files', () => {
  assert.deepEqual(readsOf(cgroupV1, 'basic'), ['cpuacct.usage', 'memory.stat', 'memory.usage_in_bytes']);
  assert.deepEqual(readsOf(cgroupV2, 'basic'), ['cpu.stat', 'memory.current', 'memory.stat', 'memory.swap.current']);
});

test('the summary needs pressure, too, and metrics need everything', () => {
  assert.equal(readsOf(cgroupV1, 'rates').length, 4);
  assert.ok(readsOf(cgroupV2, 'rates').includes('io.pressure'));
  assert.ok(!readsOf(cgroupV2, 'rates').includes('memory.events.local'));
  assert.ok(readsOf(cgroupV1, 'all').length > 12);
});

test('what no cgroup has is not looked for again until it is forgotten', () => {
  const absent = createAbsentFiles();
  for (let cgroup = 0; cgroup < 4; cgroup += 1) {
    assert.equal(absent.isAbsent('bfq'), false);
    absent.learn(['memory.stat'], ['bfq', ...(cgroup === 0 ? ['cpu.max'] : [])]);
  }
  assert.equal(absent.isAbsent('bfq'), true);
  assert.equal(absent.isAbsent('cpu.max'), false);
  absent.learn(['bfq'], []);
  assert.equal(absent.isAbsent('bfq'), false);
  for (let cgroup = 0; cgroup < 9; cgroup += 1) absent.learn([], ['memory.stat']);
  assert.equal(absent.isAbsent('memory.stat'), false, 'some cgroup had it');
  absent.forget();
  assert.equal(absent.isAbsent('memory.stat'), false);
});
