import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestTime } from './container-requests.ts';

const asked = (time: string, sandbox: string, container: string) =>
  `time="${time}" level=info msg="CreateContainer within sandbox \\"${sandbox}\\" for container ${container}"`;
const made = (time: string, sandbox: string) =>
  `time="${time}" level=info msg="CreateContainer within sandbox \\"${sandbox}\\" for name:\\"c\\" returns container id \\"x\\""`;

const LOG = [
  made('2026-11-15T20:44:37.000000000Z', 'a'),
  asked('2026-11-15T20:44:38.804287310Z', 'b', 'name:\\"c\\"'),
  asked('2026-11-15T20:44:39.256668005Z', 'a', '&ContainerMetadata{Name:c,Attempt:1,}'),
  asked('2026-11-15T20:44:40.000000000Z', 'a', 'name:\\"c\\" attempt:2'),
].join('\n');

test('the first request in a sandbox, as each containerd writes it', () => {
  assert.equal(requestTime(LOG, 'b'), Date.parse('2026-11-15T20:44:38.804Z'));
  assert.equal(requestTime(LOG, 'a'), Date.parse('2026-11-15T20:44:39.256Z'));
  assert.equal(requestTime(LOG, 'c'), undefined);
  assert.equal(requestTime('', 'a'), undefined);
});

test('a line without a time is reported', () => {
  assert.throws(() => requestTime(asked('soon', 'a', 'name'), 'a'), /begins with no time: time="soon"/);
});
