import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCgroupCpu, parseProcessCpu, parseResident } from './usage.ts';

test('processor time of a cgroup', () => {
  assert.equal(parseCgroupCpu('usage_usec 290882\nuser_usec 181104\nsystem_usec 109778\n'), 0.290882);
  assert.throws(() => parseCgroupCpu('nr_periods 0\n'), /no usage_usec/);
});

test('processor time of a process, whatever its name', () => {
  const rest = 'S 1 2 3 4 5 6 7 8 9 10 150 50 7 7 20 0 12 0 999';
  assert.equal(parseProcessCpu(`42 (containerd) ${rest}`), 2);
  assert.equal(parseProcessCpu(`42 (a) b (c) ${rest}`), 2);
  assert.throws(() => parseProcessCpu('nonsense'), /not a line of/);
});

test('resident memory', () => {
  assert.equal(parseResident('Name:\tkubelet\nVmHWM:\t   99999 kB\nVmRSS:\t   71680 kB\n'), 70);
  assert.equal(parseResident(''), 0);
});
