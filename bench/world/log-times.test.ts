import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { firstLineTime, LOG_FILE, untilAllLogged } from './log-times.ts';

const LINE = '2026-03-01T10:00:00.123456789Z stdout F up\n';
const TIME = Date.UTC(2026, 2, 1, 10, 0, 0, 123);

test('the time of the first line', () => {
  assert.equal(firstLineTime(`${LINE}2026-03-01T10:00:09Z stdout F later\n`), TIME);
  assert.equal(firstLineTime('2026-03-01T12:00:00.123+02:00 stderr P half\n'), TIME);
  assert.equal(firstLineTime(''), undefined);
  assert.equal(firstLineTime('2026-03-01T10:00:00.1'), undefined); // half written
  assert.throws(() => firstLineTime('up\n'), /begins with no time: up/);
});

test('waits for all pods and reports how many are missing', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-ts-bench-'));
  t.after(() => rm(directory, { recursive: true }));
  const log = async (pod: string, text: string) => {
    const path = join(directory, pod, LOG_FILE);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  };
  await log('default_a_1', LINE);
  await log('default_b_2', '');
  await assert.rejects(untilAllLogged(directory, ['default_a_', 'default_b_', 'default_c_'], 0), /1 of 3 pods/);
  const waiting = untilAllLogged(directory, ['default_a_', 'default_b_'], 10_000);
  await log('default_b_2', LINE.replace('00:00', '00:07'));
  assert.deepEqual(await waiting, [TIME, TIME + 7000]);
});
