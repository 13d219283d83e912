import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KERNEL_SETTINGS, planKernelSettings } from './kernel-settings.ts';

const right = new Map(KERNEL_SETTINGS.map(({ name, value }) => [name, value]));
const actual =
  (changed: Readonly<Record<string, number>>, missing: readonly string[] = []) =>
  (name: string) =>
    missing.includes(name) ? undefined : (changed[name] ?? right.get(name));

test('what is wrong is changed, or refused where the kernel is protected', () => {
  const wrong = actual({ 'vm/overcommit_memory': 0, 'kernel/panic': 0 });
  assert.deepEqual(planKernelSettings(wrong, { protect: false }), {
    changes: [
      { name: 'vm/overcommit_memory', value: 1 },
      { name: 'kernel/panic', value: 10 },
    ],
    refusal: undefined,
  });
  assert.deepEqual(planKernelSettings(wrong, { protect: true }), {
    changes: [],
    refusal:
      'invalid kernel flag: vm/overcommit_memory, expected value: 1, actual value: 0; invalid kernel flag: kernel/panic, expected value: 10, actual value: 0',
  });
});

test('nothing is done where all is right, or where the kernel lacks a setting', () => {
  for (const given of [actual({}), actual({}, ['kernel/keys/root_maxkeys'])]) {
    for (const protect of [true, false]) {
      assert.deepEqual(planKernelSettings(given, { protect }), { changes: [], refusal: undefined });
    }
  }
});
