import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LATER } from './later.ts';
import { correctList, missingSpecs } from './list.ts';
import { sortFailures } from './meant.ts';
import { SETS } from './sets.ts';
import { readNodeSettings } from './settings.ts';
import { suiteScript } from './units.ts';

const names = (env: Record<string, string>) => readNodeSettings(env).sets.map(({ name }) => name);
const only = (env: Record<string, string>) => {
  const [set, ...rest] = readNodeSettings(env).sets;
  assert.ok(set);
  assert.deepEqual(rest, []);
  return set;
};
const chooses = (set: { focus: string; skip: string }, name: string) =>
  new RegExp(set.focus).test(name) && !new RegExp(set.skip).test(name);

describe('the settings of a run of the node suite', () => {
  test('choose every set that is not for later, and no spec that is', () => {
    const chosen = readNodeSettings({ SET: '', FOCUS: '', SKIP: '', PROCS: '' }).sets;
    assert.deepEqual(
      chosen.map(({ name }) => name),
      SETS.filter(({ later }) => later === undefined).map(({ name }) => name),
    );
    for (const { specs } of LATER) {
      for (const set of chosen) assert.ok(set.skip.includes(specs), `${set.name}: ${specs}`);
    }
  });

  test('a set for later runs what it is about', () => {
    assert.ok(chooses(only({ SET: 'resize' }), '[sig-node] Pod InPlace Resize grows a pod'));
    const name = '[sig-node] Summary API [NodeConformance] when querying';
    assert.ok(!chooses(only({ SET: 'conformance' }), name));
    assert.ok(chooses(only({ SET: 'conformance', LATER: '1' }), name));
  });

  test('several sets are named with blanks or commas', () => {
    assert.deepEqual(names({ SET: 'restarts, lock' }), ['restarts', 'lock']);
  });

  test('FOCUS alone runs its specs whatever set they are of, one after the other', () => {
    const set = only({ FOCUS: 'MirrorPod' });
    assert.equal(set.procs, 1);
    assert.ok(chooses(set, '[sig-node] MirrorPod when recreating [Serial]'));
  });

  test('FOCUS with SET keeps how that set is started', () => {
    const set = only({ SET: 'standalone', FOCUS: 'static pod', SKIP: 'broken', PROCS: '2' });
    assert.deepEqual([set.suiteFlags, set.focus, set.procs], [['--standalone-mode=true'], 'static pod', 2]);
    assert.ok(!chooses(set, 'a broken static pod'));
  });

  for (const [env, message] of [
    [{ SET: 'nothing' }, /no set named nothing; there are conformance/],
    [{ UPDATE: '1' }, /KUBELET=reference/],
    [{ KUBELET: 'theirs' }, /KUBELET=theirs/],
  ] as const) {
    test(`refuse ${JSON.stringify(env)}`, () => assert.throws(() => readNodeSettings(env), message));
  }
});

describe('the sets', () => {
  const spec = '[sig-node] MirrorPod when create a mirror pod should be recreated';
  const cases: readonly [string, string][] = [
    ['[sig-node] Pods should get a host IP [NodeConformance]', 'conformance'],
    ['[sig-node] Pods should do something else', 'parallel'],
    [`${spec} [NodeConformance] [Serial]`, 'restarts'],
    ['[sig-node] Restart [Serial] Kubelet should recover', 'restarts'],
    ['[sig-node] [Feature:CriProxy] pull fails [Serial]', 'criproxy'],
  ];
  for (const [name, expected] of cases) {
    test(`${name} is of ${expected} alone`, () => {
      const of = readNodeSettings({}).sets.filter((set) => chooses(set, name));
      assert.deepEqual(
        of.map((set) => set.name),
        [expected],
      );
    });
  }
});

describe('the list of what the reference passes', () => {
  const list = new Set(['pod a', 'pod b', 'pod c slow', 'volume d']);
  test('shows what a set should have run', () => {
    const results = [{ name: 'pod a', passed: false }];
    assert.deepEqual(missingSpecs({ focus: '^pod', skip: 'slow' }, results, list), ['pod b']);
  });
  test('is corrected by a run, where it ran', () => {
    const results = [
      { name: 'pod a', passed: false },
      { name: 'pod e', passed: true },
    ];
    assert.equal(correctList(results, list), 'pod b\npod c slow\npod e\nvolume d\n');
  });
});

test('a failure that is meant is no fault; one that passes is out of date', () => {
  const differences = ['a', 'b', 'c'].map((spec) => ({ spec, reason: 'so' }));
  const sorted = sortFailures(
    ['a', 'x'].map((name) => ({ name, passed: false })),
    ['b', 'y'],
    differences,
  );
  assert.deepEqual(sorted, {
    faults: [{ name: 'x', passed: false }],
    meant: [{ spec: 'a', reason: 'so' }],
    outdated: [{ spec: 'b', reason: 'so' }],
  });
});

test('the script of a run keeps patterns as they are', () => {
  const text = suiteScript({
    ginkgo: '/bin/ginkgo',
    suite: '/bin/suite',
    set: { ...only({ SET: 'lock' }), focus: "it's (a|b) \\[x\\] $HOME" },
    flags: ['--v=4'],
    binDirectory: '/b',
    workDirectory: '/w',
    output: '/o',
    report: 'r.json',
    nodeName: 'n',
  });
  assert.ok(text.includes(`'--focus=it'\\''s (a|b) \\[x\\] $HOME'`));
  assert.ok(text.includes('--lock-file=/var/run/kubelet.lock --v=4'));
});
