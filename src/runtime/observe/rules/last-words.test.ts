import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerStatus } from '../../../wire/gen/cri-runtime-v1.ts';
import { joinMessage, lastWordsOf, logMessage } from './last-words.ts';

const PATH = 'io.kubernetes.container.terminationMessagePath';
const POLICY = 'io.kubernetes.container.terminationMessagePolicy';
const status = (more: Partial<ContainerStatus>, policy = 'File'): ContainerStatus => ({
  ...ContainerStatus.zero(),
  annotations: { [PATH]: '/dev/termination-log', [POLICY]: policy },
  labels: { 'io.kubernetes.pod.uid': 'uid', 'io.kubernetes.container.name': 'web' },
  logPath: '/logs/0.log',
  exitCode: 1,
  ...more,
});
const FILE = '/root/pods/uid/containers/web/a1b2c3d4';
const lastWords = (of: ContainerStatus) => lastWordsOf(of, '/root/pods');
const mount = { hostPath: FILE, containerPath: '/dev/termination-log' } as ContainerStatus['mounts'][number];

test('where to look: the file if it is mounted, the log only where asked for and where it failed', () => {
  assert.deepEqual(lastWords(status({ mounts: [mount] })), { file: FILE, log: undefined });
  assert.deepEqual(lastWords(status({})), { file: undefined, log: undefined });
  const fallback = 'FallbackToLogsOnError';
  assert.deepEqual(lastWords(status({ mounts: [mount] }, fallback)), { file: FILE, log: '/logs/0.log' });
  assert.equal(lastWords(status({ exitCode: 0 }, fallback)).log, undefined);
  assert.equal(lastWords(status({ reason: 'ContainerCannotRun' }, fallback)).log, undefined);
});

test('of several mounts at the path only the file that the kubelet made for this container counts', () => {
  const from = (hostPath: string) => ({ ...mount, hostPath });
  const foreign = [
    '/var/lib/volumes/pipe',
    '/root/pods/uid/volumes/kubernetes.io~empty-dir/v/pipe',
    '/root/pods/other/containers/web/a1b2c3d4',
    '/root/pods/uid/containers/website/a1b2c3d4',
  ].map(from);
  assert.equal(lastWords(status({ mounts: foreign })).file, undefined);
  assert.equal(lastWords(status({ mounts: [...foreign, mount] })).file, FILE);
  const relative = { [PATH]: 'dev/termination-log', [POLICY]: 'File' };
  assert.equal(lastWords(status({ mounts: [mount], annotations: relative })).file, FILE);
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

test('what is no record of a log is not shown', () => {
  const record = '2026-01-01T00:00:00.123456789Z stdout F said\n';
  const others = [
    'root:x:0:0:root:/root:/bin/bash',
    '2026-01-01T00:00:00Z stdin F x',
    '2026-01-01 00:00:00 stdout F x',
    '2026-01-01T00:00:00Z stdout X x',
    ' stdout F x',
    'x'.repeat(30_000),
  ];
  assert.equal(logMessage(others.map((line) => `${line}\n`).join('') + record + others.join('\n'), true), 'said\n');
  assert.equal(logMessage(others.join('\n'), true), '');
  assert.equal(logMessage('2026-01-01T00:00:00.1+02:00 stderr P:x half', true), 'half');
  const long = `2026-01-01T00:00:00.1Z stdout P ${'y'.repeat(16_384)}\n`;
  assert.equal(logMessage(`${long}${long}`.slice(-32 * 1024), false), 'y'.repeat(2048), 'a record of 16 KiB fits');
});
