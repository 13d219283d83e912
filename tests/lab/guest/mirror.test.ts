import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseMirror } from './mirror.ts';

const cases: readonly [string, string, { suite: string; address: string } | undefined][] = [
  [
    'the plain suite, not its updates',
    'Debian|bookworm-updates|main|http://a/\nDebian|bookworm|main|http://a/debian/\nDebian|bookworm-security|main|http://s/',
    { suite: 'bookworm', address: 'http://a/debian/' },
  ],
  [
    "no one else's repository of the same name",
    'Docker|bookworm|stable|http://d/\nOther|bookworm|main|http://o/\nDebian|bookworm|main|http://a/',
    { suite: 'bookworm', address: 'http://a/' },
  ],
  [
    'not a part of Debian without the base system',
    'Debian|bookworm|contrib|http://c/\nDebian|bookworm|main|http://a/',
    { suite: 'bookworm', address: 'http://a/' },
  ],
  ['no sources at all', '', undefined],
  ['only updates', 'Debian|bookworm-updates|main|http://a/\n', undefined],
  ['indexes never fetched, so nothing is known of them', '|||http://a/\n', undefined],
  ['a line that is cut off', 'Debian|bookworm|main', undefined],
];

for (const [name, indexes, mirror] of cases) {
  test(name, () => {
    if (mirror !== undefined) assert.deepEqual(chooseMirror(indexes), mirror);
    else assert.throws(() => chooseMirror(indexes), /name no plain Debian suite/);
  });
}
