import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeTestSupport } from './test-support.ts';

const judge = (sources: Readonly<Record<string, string>>, reasons: Readonly<Record<string, string>> = {}) =>
  judgeTestSupport(new Map(Object.entries(sources)), { 'main.ts': 'the program', ...reasons });

const main = "import { a } from './pods/pods.ts';";

test('what only tests use has a name that says so', () => {
  const used = { 'main.ts': main, 'pods/pods.ts': '' };
  assert.deepEqual(judge(used), []);
  const helper = "import { h } from './fake-world.ts';";
  assert.match(
    judge({ ...used, 'pods/pods.test.ts': helper, 'pods/fake-world.ts': '' }).join(),
    /fake-world.*only tests/,
  );
  assert.deepEqual(judge({ ...used, 'pods/pods.test.ts': '', 'pods/world-testing.ts': '', 'pods/testing.ts': '' }), []);
});

test('the kubelet uses nothing that is for tests', () => {
  const sources = { 'main.ts': main, 'pods/pods.ts': "import { t } from './testing.ts';", 'pods/testing.ts': '' };
  assert.match(judge(sources).join(), /pods\.ts: imports pods\/testing\.ts/);
});

test('an exception goes when it is not needed', () => {
  const sources = { 'main.ts': main, 'pods/pods.ts': '', 'pods/other.ts': '' };
  assert.deepEqual(judge(sources, { 'pods/other.ts': 'a reason' }), []);
  assert.match(judge(sources, { 'pods/other.ts': '', 'pods/pods.ts': '' }).join(), /pods\.ts: needs no reason/);
});
