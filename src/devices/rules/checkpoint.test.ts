import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Checkpoint, decodeCheckpoint, encodeCheckpoint } from './checkpoint.ts';

/** Written by the reference kubelet's own package for checkpoints, one file in each line. */
const recorded = readFileSync(join(import.meta.dirname, '../testdata/checkpoints.jsonl'), 'utf8')
  .trim()
  .split('\n');

const checkpointOf = (text: string): Checkpoint => {
  const checkpoint = decodeCheckpoint(text);
  assert.ok(checkpoint.ok, checkpoint.ok ? '' : checkpoint.problem);
  return checkpoint.value;
};

test('what the reference wrote is read, its checksum included', () => {
  assert.equal(recorded.length, 4);
  for (const text of recorded) checkpointOf(text);
  const [, , third = ''] = recorded;
  const { entries, registered } = checkpointOf(third);
  assert.deepEqual(
    entries.map(({ podUid, container, devices }) => [podUid, container, devices]),
    [
      ['u1', 'c1', { '-1': ['Dev-1'] }],
      ['u2', 'c"ä\n', { '-1': ['z'], '0': ['a'], '1': ['a', 'b'], '10': ['t'] }],
      ['u3', 'c', {}],
    ],
  );
  assert.deepEqual(registered.get('z.com/b'), ['b', 'a']);
});

test('what is written is what the reference writes, byte for byte', () => {
  // The third one has a nil in place of an empty answer, which this kubelet never writes.
  for (const text of [recorded[0], recorded[3]]) assert.equal(encodeCheckpoint(checkpointOf(text ?? '')), text);
});

test('a damaged file is refused with the reason', () => {
  const [, second = ''] = recorded;
  for (const [text, problem] of [
    ['', /not JSON/],
    ['[]', /no data/],
    ['{"Data":{"PodDeviceEntries":[{}]}}', /malformed entries/],
    ['{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{"a":1}}}', /malformed devices/],
    [second.replace('Dev-1', 'Dev-3'), /checksum/],
    [
      '{"Data":{"PodDeviceEntries":[{"PodUID":"u","ContainerName":"c","ResourceName":"r","DeviceIDs":{},"AllocResp":"!"}]}}',
      /malformed entries/,
    ],
  ] as const) {
    const checkpoint = decodeCheckpoint(text);
    assert.ok(!checkpoint.ok);
    assert.match(checkpoint.problem, problem);
  }
});
