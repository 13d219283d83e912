import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEFAULT_FOCUS, DEFAULT_SKIP, type Environment, readSettings } from './settings.ts';

describe('the settings of a conformance run', () => {
  const defaults = { focus: DEFAULT_FOCUS, skip: DEFAULT_SKIP, kubelet: 'ours', procs: 8, update: false };
  const good: readonly [Environment, object][] = [
    [{}, {}],
    [{ FOCUS: '', SKIP: '', KUBELET: '', PROCS: '', UPDATE: '' }, {}],
    [{ FOCUS: 'Probing' }, { focus: 'Probing' }],
    [{ SKIP: 'Slow' }, { skip: 'Slow' }],
    [
      { KUBELET: 'reference', UPDATE: '1' },
      { kubelet: 'reference', update: true },
    ],
    [{ PROCS: '1' }, { procs: 1 }],
  ];
  for (const [env, expected] of good) {
    test(`of ${JSON.stringify(env)}`, () => assert.deepEqual(readSettings(env), { ...defaults, ...expected }));
  }

  const bad: readonly [Environment, RegExp][] = [
    [{ KUBELET: 'theirs' }, /KUBELET=theirs: want ours or reference/],
    [{ PROCS: '0' }, /PROCS=0: want a number/],
    [{ PROCS: '1.5' }, /PROCS=1\.5/],
    [{ PROCS: 'many' }, /PROCS=many/],
    [{ UPDATE: 'yes' }, /UPDATE=yes: want 0 or 1/],
    [{ UPDATE: '1' }, /KUBELET=reference/],
    [{ UPDATE: '1', KUBELET: 'reference', FOCUS: 'Probing' }, /default FOCUS/],
  ];
  for (const [env, message] of bad) {
    test(`refuses ${JSON.stringify(env)}`, () => assert.throws(() => readSettings(env), message));
  }

  const names: readonly [string, boolean][] = [
    ['[sig-node] Pods should get a host IP [NodeConformance] [Conformance]', true],
    ['[sig-node] Pods should run through the lifecycle [Slow] [Conformance]', false],
    ['[sig-node] Probing container with a restart [NodeConformance]', false],
    ['[sig-network] DNS should provide DNS for services [Conformance]', false],
  ];
  for (const [name, runs] of names) {
    test(`${runs ? 'runs' : 'leaves out'} ${name}`, () => {
      assert.equal(new RegExp(DEFAULT_FOCUS).test(name) && !new RegExp(DEFAULT_SKIP).test(name), runs);
    });
  }
});
