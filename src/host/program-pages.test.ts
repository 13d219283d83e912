import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { cleanFileMappings } from './program-pages.ts';

const entry = (head: string, anonymous: number) =>
  `${head}\nSize:                100 kB\nRss:                  80 kB\nAnonymous:         ${anonymous} kB\nVmFlags: rd mr\n`;

test('only unchanged mappings of files that no one writes to are released', () => {
  const smaps = [
    entry('00400000-00500000 r--p 00000000 fe:00 12                  /usr/bin/node', 0),
    entry('00500000-00600000 r--p 00100000 fe:00 12                  /usr/bin/node', 4),
    entry('00600000-00700000 rw-p 00200000 fe:00 12                  /usr/bin/node', 0),
    entry('00700000-00800000 r-xp 00300000 fe:00 12                  /usr/bin/node', 0),
    entry('7f0000000000-7f0000100000 r-xp 00000000 00:00 0 ', 0),
    entry('7ffc00000000-7ffc00021000 r-xp 00000000 00:00 0           [vdso]', 0),
  ].join('');
  assert.deepEqual(cleanFileMappings(smaps), [
    { start: 0x400000n, bytes: 0x100000n },
    { start: 0x700000n, bytes: 0x100000n },
  ]);
});

test('a process goes on after its pages were released, and holds less', () => {
  const script = `
    const { createHost } = await import(${JSON.stringify(join(import.meta.dirname, 'host.ts'))});
    const { readFileSync } = await import('node:fs');
    const resident = () => Number(/RssFile:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
    const before = resident();
    await createHost().own.releaseProgramPages();
    console.log(JSON.stringify({ before, after: resident(), works: [3, 1, 2].sort().join() }));`;
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script];
  const { before, after, works } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
  assert.equal(works, '1,2,3');
  assert.ok(after < before * 0.75, `${before} kB of files were mapped, ${after} kB after`);
});
