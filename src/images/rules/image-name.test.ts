import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCalled, withDefaultTag, withoutTagAndDigest } from './image-name.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;

test('the runtime gets a tag where the name has neither tag nor digest', () => {
  const names: Readonly<Record<string, string>> = {
    busybox: 'busybox:latest',
    'busybox:1': 'busybox:1',
    'localhost:5000/app': 'localhost:5000/app:latest',
    'localhost:5000/app:2': 'localhost:5000/app:2',
    [`app@${DIGEST}`]: `app@${DIGEST}`,
    [`app:1@${DIGEST}`]: `app:1@${DIGEST}`,
  };
  for (const [written, expected] of Object.entries(names)) {
    assert.deepEqual(withDefaultTag(written), { ok: true, value: expected });
  }
});

test('a bad name is refused in the words of the recorded event', () => {
  assert.deepEqual(withDefaultTag('NOT//valid::'), {
    ok: false,
    problem: 'couldn\'t parse image name "NOT//valid::": invalid reference format',
  });
});

test('records go by the name as it was written, without tag and digest', () => {
  const names: Readonly<Record<string, string>> = {
    'busybox:1': 'busybox',
    'localhost:5000/app:2': 'localhost:5000/app',
    'localhost:5000/app': 'localhost:5000/app',
    [`a.io/app:1@${DIGEST}`]: 'a.io/app',
  };
  for (const [written, expected] of Object.entries(names)) {
    assert.deepEqual(withoutTagAndDigest(written), { ok: true, value: expected });
  }
  for (const bad of ['', 'A B', 'app:', 'App']) assert.equal(withoutTagAndDigest(bad).ok, false, bad);
});

test('a short name means one of the full names that a runtime lists', () => {
  const listed = ['docker.io/library/busybox:1', `docker.io/library/busybox@${DIGEST}`, 'a.io/app:2'];
  for (const name of ['busybox:1', 'docker.io/busybox:1', `busybox@${DIGEST}`, `busybox:9@${DIGEST}`, 'a.io/app:2']) {
    assert.equal(isCalled(name, listed), true, name);
  }
  for (const name of ['busybox', 'busybox:2', 'app:2', 'a.io/app', 'b.io/app:2', 'NOT//valid']) {
    assert.equal(isCalled(name, listed), false, name);
  }
});
