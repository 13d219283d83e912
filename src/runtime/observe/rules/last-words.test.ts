import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerStatus } from '../../../wire/gen/cri-runtime-v1.ts';
import { joinMessage, lastWordsOf, logMessage } from './last-words.ts';

const PATH = 'io.kubernetes.container.terminationMessagePath';
const POLICY = 'io.kubernetes.container.terminationMessagePolicy';
const status = (more: Partial<ContainerStatus>, policy = 'File'): ContainerStatus => ({
  ...ContainerStatus.zero(),
  annotations: { [PATH]: '/dev/termination-log', [POLICY]: policy },
  logPath: '/logs/0.log',
  exitCode: 1,
  ...more,
});
const mount = { hostPath: '/pods/x', containerPath: '/dev/termination-log' } as ContainerStatus['mounts'][number];

test('where to look: the file if it is mounted, the log only where asked for and where it failed', () => {
  assert.deepEqual(lastWordsOf(status({ mounts: [mount] })), { file: '/pods/x', log: undefined });
  assert.deepEqual(lastWordsOf(status({})), { file: undefined, log: undefined });
  const fallback = 'FallbackToLogsOnError';
  assert.deepEqual(lastWordsOf(status({ mounts: [mount] }, fallback)), { file: '/pods/x', log: '/logs/0.log' });
  assert.equal(lastWordsOf(status({ exitCode: 0 }, fallback)).log, undefined);
  assert.equal(lastWordsOf(status({ reason: 'ContainerCannotRun' }, fallback)).log, undefined);
});

test('the runtime speaks first', () => {
  assert.equal(joinMessage('', 'said'), 'said');
  assert.equal(joinMessage('runtime', ''), 'runtime');
  assert.equal(joinMessage('runtime', 'said'), 'runtime: said');
});

test('the end of a log without its stamps', () => {
  const line = (text: string, tag = 'F') => `2026-01-01T00:00:00.1Z stderr ${tag} ${text}\n`;
  assert.equal(logMessage(line('a') + line('b', 'P') + line('c'), true), 'a\nbc\n');
  assert.equal(logMessage(`lf of a line\n${line('b')}`, false), 'b\n', 'the cut line is left out');
  const many = Array.from({ length: 100 }, (_, i) => line(`n${i}`)).join('');
  assert.equal(logMessage(many, true).split('\n').length, 81);
  assert.equal(logMessage(line('x'.repeat(5000)), true).length, 2048);
});
