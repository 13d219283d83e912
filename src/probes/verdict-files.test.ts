import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { containerId } from '../api/ids.ts';
import { createSilentLogger, type Logger } from '../base/logger.ts';
import { createVerdictFiles, parseVerdicts } from './verdict-files.ts';

function directory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'verdicts-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

const verdicts = new Map([
  [containerId('a'), { startup: 'success', readiness: 'failure' } as const],
  [containerId('b'), { readiness: 'success' } as const],
]);

test('what is written is read again, and nothing else is left', async (t) => {
  const root = directory(t);
  mkdirSync(join(root, 'u'));
  const files = createVerdictFiles((uid) => join(root, uid), createSilentLogger());
  assert.deepEqual(files.read('u'), new Map());
  await files.write('u', verdicts);
  assert.deepEqual(files.read('u'), verdicts);
  assert.deepEqual(readdirSync(join(root, 'u')), ['probes.json']);
});

test('a pod whose directory is gone is no reason to complain; a file that can not be used is', async (t) => {
  const root = directory(t);
  const warnings: string[] = [];
  const log: Logger = { ...createSilentLogger(), warn: (message) => warnings.push(message) };
  const files = createVerdictFiles((uid) => join(root, uid), log);
  await files.write('gone', verdicts);
  assert.deepEqual(readdirSync(root), []);
  assert.deepEqual(warnings, []);
  mkdirSync(join(root, 'bad'));
  writeFileSync(join(root, 'bad', 'probes.json'), '{"version":1,');
  assert.deepEqual(files.read('bad'), new Map());
  assert.equal(warnings.length, 1);
  mkdirSync(join(root, 'odd', 'probes.json.new'), { recursive: true });
  chmodSync(join(root, 'odd'), 0o755);
  await files.write('odd', verdicts);
  assert.equal(warnings.length, 2);
});

const texts: readonly [string, number][] = [
  ['{"version":1,"containers":{"a":{"readiness":"success"}}}', 1],
  ['{"version":2,"containers":{"a":{"readiness":"success"}}}', 0],
  ['{"version":1,"containers":null}', 0],
  ['{"version":1,"containers":{"a":3}}', 0],
  ['[]', 0],
  ['null', 0],
];

for (const [text, count] of texts) {
  test(`${text} holds ${count}`, () => {
    assert.equal(parseVerdicts(text).size, count);
  });
}

test('words that are no verdicts are passed over', () => {
  const text = '{"version":1,"containers":{"a":{"readiness":"perhaps","startup":"failure","liveness":"success"}}}';
  assert.deepEqual(parseVerdicts(text), new Map([[containerId('a'), {}]]));
});
