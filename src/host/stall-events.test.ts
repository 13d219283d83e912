import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createReadiness } from './event-loop.ts';
import { createStallEvents } from './stall-events.ts';

const openTimes = (path: string): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    const link = `/proc/self/fd/${fd}`;
    return existsSync(link) && readlinkSync(link) === path;
  }).length;

test('a kernel that does not measure stalls is an error', () => {
  const events = createStallEvents(createReadiness(), '/proc/pressure/missing');
  assert.throws(() => events.watchMemory(() => undefined), { code: 'ENOENT' });
});

// What the kernel does with it is shown in a guest (tests/lab/guest/memory-signal-main.ts): this kernel may have none.
test('the kernel is told what counts as a wait, and a file that can not be waited for stays not open', () => {
  const directory = mkdtempSync(join(tmpdir(), 'stalls-'));
  try {
    const file = join(directory, 'memory');
    writeFileSync(file, '');
    const events = createStallEvents(createReadiness(), file);
    assert.throws(() => events.watchMemory(() => undefined), { code: 'unsupported' }, 'a plain file has no events');
    assert.equal(readFileSync(file, 'utf8'), 'some 100000 1000000\0');
    assert.equal(openTimes(file), 0);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
