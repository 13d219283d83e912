import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { podUid } from '../api/ids.ts';
import { createSilentLogger, type Logger } from '../base/logger.ts';
import { createEndingStore } from './endings.ts';
import { decodeEnding, encodeEnding } from './rules/ending-record.ts';

const identity = { uid: podUid('u-1'), name: 'p', namespace: 'n' };
const rejected = { phase: 'Failed', reason: 'OutOfcpu', message: 'no "room"\n', rejected: true } as const;

test('a record is read by the next kubelet, until it is removed', async (t) => {
  const directory = join(await mkdtemp(join(tmpdir(), 'endings-')), 'ended_pods');
  t.after(() => rm(join(directory, '..'), { recursive: true }));
  const first = createEndingStore(directory, createSilentLogger());
  await first.load();
  await first.write(identity, rejected);
  await first.write({ ...identity, uid: podUid('u-2') }, undefined);
  await first.write(identity, undefined);
  const errors: string[] = [];
  const log: Logger = { ...createSilentLogger(), error: (_, values) => errors.push(String(values?.['path'])) };
  await writeFile(join(directory, 'u-3.json'), '{"version":1,"end":{"phase":"Fine"}}');
  await writeFile(join(directory, 'u-4.json.new'), 'half');
  const second = createEndingStore(directory, log);
  await second.load();
  assert.deepEqual(second.of(podUid('u-1')), { end: rejected }, 'the first ending counts');
  assert.deepEqual(second.of(podUid('u-2')), { end: undefined });
  assert.deepEqual(second.uids().length, 2);
  assert.deepEqual(errors, [join(directory, 'u-3.json')]);
  await second.remove(podUid('u-1'));
  await second.remove(podUid('unknown'));
  assert.deepEqual((await readdir(directory)).sort(), ['u-2.json', 'u-3.json', 'u-4.json.new']);
  await assert.rejects(second.write({ ...identity, uid: podUid('../x') }, undefined), /can't name a file/);
});

test('invalid records', () => {
  const disruption = { reason: 'TerminationByKubelet', message: 'm' };
  const whole = encodeEnding(identity, { ...rejected, disruption });
  assert.deepEqual(decodeEnding(whole), { ok: true, value: { ...rejected, disruption } });
  for (const text of ['', '[]', 'null', '{"version":2}', '{"version":1,"end":5}', '{"version":1}']) {
    assert.equal(decodeEnding(text).ok, false, text);
  }
});
