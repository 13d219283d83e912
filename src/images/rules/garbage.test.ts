import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatSize,
  type GarbageSettings,
  type ImageMemories,
  isKept,
  isOldEnough,
  judgeSpace,
  markUsed,
  notEnoughFreed,
  planByAge,
  rememberImages,
  removalOrder,
} from './garbage.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const settings: GarbageSettings = {
  highPercent: 85,
  lowPercent: 80,
  minimumAgeMs: 2 * MINUTE,
  maximumAgeMs: 0,
  keep: [],
};
const seen = (id: string, pinned = false) => ({ id, bytes: 100, pinned });
const memory = (firstSeen: number, lastUsed: number, pinned = false) => ({ firstSeen, lastUsed, bytes: 100, pinned });
const unused = new Set<string>();

test('images are remembered from the first look to the last', () => {
  let memories: ImageMemories = rememberImages(new Map(), [seen('a'), seen('b')], new Set(['b']), 1000);
  assert.deepEqual(memories.get('a'), memory(1000, 0));
  assert.deepEqual(memories.get('b'), memory(1000, 1000));
  memories = rememberImages(memories, [seen('b'), seen('c', true)], unused, 2000);
  assert.equal(memories.has('a'), false);
  assert.deepEqual(memories.get('b'), memory(1000, 1000));
  assert.deepEqual(memories.get('c'), memory(2000, 0, true));
});

test('the longest unused goes first; used and pinned ones stay', () => {
  const memories = new Map([
    ['used-lately', memory(0, 9 * HOUR)],
    ['never-used-new', memory(8 * HOUR, 0)],
    ['never-used-old', memory(0, 0)],
    ['used-long-ago', memory(0, HOUR)],
    ['in-use', memory(0, HOUR)],
    ['pinned', memory(0, 0, true)],
  ]);
  const order = removalOrder(memories, new Set(['in-use']), settings, 10 * HOUR);
  assert.deepEqual(
    order.map(({ id }) => id),
    ['never-used-old', 'never-used-new', 'used-long-ago', 'used-lately'],
  );
});

test('one that was just made ready for a container stays, also if it is old', () => {
  const memories = markUsed(new Map([['a', memory(0, 0)]]), 'a', 10 * HOUR);
  assert.deepEqual(removalOrder(memories, unused, settings, 10 * HOUR + MINUTE), []);
  assert.equal(removalOrder(memories, unused, settings, 10 * HOUR + 3 * MINUTE).length, 1);
  assert.deepEqual(markUsed(new Map(), 'new', 5).get('new'), { firstSeen: 5, lastUsed: 5, bytes: 0, pinned: false });
});

test('by age: only what this kubelet has itself seen unused for that long', () => {
  const aged = { ...settings, maximumAgeMs: HOUR };
  const candidates = [
    { id: 'never', ...memory(0, 0) },
    { id: 'long-ago', ...memory(0, 5 * HOUR) },
    { id: 'lately', ...memory(0, 9.5 * HOUR) },
  ];
  const ids = (watchingSince: number, chosen = aged) =>
    planByAge(candidates, chosen, { now: 10 * HOUR, watchingSince }).map(({ id }) => id);
  assert.deepEqual(ids(0), ['never', 'long-ago']);
  assert.deepEqual(ids(9 * HOUR), [], 'it has not watched for long enough');
  assert.deepEqual(ids(0, settings), [], 'no such limit');
});

const disks: readonly (readonly [string, number, number, ReturnType<typeof judgeSpace>])[] = [
  ['half full', 1000, 500, { kind: 'enough', usedPercent: 50 }],
  ['just below', 1000, 160, { kind: 'enough', usedPercent: 84 }],
  ['a fraction below counts up', 1000, 151, { kind: 'short', usedPercent: 85, bytesToFree: 49 }],
  ['at the threshold', 1000, 150, { kind: 'short', usedPercent: 85, bytesToFree: 50 }],
  ['full', 1000, 0, { kind: 'short', usedPercent: 100, bytesToFree: 200 }],
  ['more free than there is', 1000, 5000, { kind: 'enough', usedPercent: 0 }],
  ['no disk', 0, 0, { kind: 'unknown' }],
];
for (const [name, capacityBytes, availableBytes, verdict] of disks) {
  test(`the disk: ${name}`, () => assert.deepEqual(judgeSpace({ capacityBytes, availableBytes }, settings), verdict));
}

test('young images are not removed for space', () => {
  const candidate = { id: 'a', ...memory(HOUR, 0) };
  assert.equal(isOldEnough(candidate, settings, HOUR + MINUTE), false);
  assert.equal(isOldEnough(candidate, settings, HOUR + 2 * MINUTE), true);
});

test('sizes and the message of a disk that stays full', () => {
  const sizes = {
    0: '0 B',
    1023: '1023 B',
    1024: '1.0 KiB',
    1572864: '1.5 MiB',
    [5 * 1024 ** 3]: '5.0 GiB',
    [3 * 1024 ** 5]: '3072.0 TiB',
  };
  for (const [bytes, text] of Object.entries(sizes)) assert.equal(formatSize(Number(bytes)), text);
  assert.equal(
    notEnoughFreed(91, 10 * 1024 ** 3, 12345),
    "Insufficient free disk space on the node's image filesystem (91% of 10.0 GiB used). Failed to free sufficient space by deleting unused images (freed 12345 bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.",
  );
});

test('images on the list stay, by their whole name, without a tag, or by its beginning', () => {
  const keep = ['x.io/agent', 'x.io/base:1', 'y.io/tools/*'];
  const cases: readonly [string, boolean][] = [
    ['x.io/agent:7', true],
    ['x.io/agent@sha256:1', true],
    ['x.io/agent2:7', false],
    ['x.io/base:1', true],
    ['x.io/base:2', false],
    ['y.io/tools/a:1', true],
    ['y.io/other:1', false],
  ];
  for (const [name, expected] of cases) assert.equal(isKept(['sha256:1', name], { keep }), expected, name);
});
