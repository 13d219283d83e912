import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { resolveFeatures } from './features.ts';
import { gateNeeds } from './gate-needs.ts';
import { gates } from './gates.ts';
import { removedGates } from './removed-gates.ts';

test('the table has the gates that the reference reports, with their stages and defaults', () => {
  const recorded = readFileSync(new URL('../testdata/feature-gates.tsv', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));
  const stageNames = { alpha: 'ALPHA', beta: 'BETA', stable: '', deprecated: 'DEPRECATED' };
  const { features } = resolveFeatures({});
  const ours = features.list().map((f) => [f.name, stageNames[f.stage], f.enabled ? '1' : '0']);
  assert.deepEqual(ours, recorded);
});

const refused: [Record<string, boolean>, string, RegExp][] = [
  [{ NoSuchGate: true }, 'featureGates.NoSuchGate', /unrecognized feature gate/],
  [{ GracefulNodeShutdwn: true }, 'featureGates.GracefulNodeShutdwn', /did you mean GracefulNodeShutdown\?/],
  [{ allalpha: true }, 'featureGates.allalpha', /did you mean AllAlpha\?/],
  [{ InPlacePodVerticalScaling: false }, 'featureGates.InPlacePodVerticalScaling', /locked to true/],
  [{ GitRepoVolumeDriver: true }, 'featureGates.GitRepoVolumeDriver', /locked to false/],
  [
    { GracefulNodeShutdown: false },
    'featureGates.GracefulNodeShutdownBasedOnPodPriority',
    /needs GracefulNodeShutdown/,
  ],
  [{ constructor: true }, 'featureGates.constructor', /unrecognized/],
];
for (const [requests, path, rule] of refused) {
  test(`refused: ${JSON.stringify(requests)}`, () => {
    const { problems } = resolveFeatures(requests);
    const found = problems.find((p) => p.path === path);
    assert.match(found?.rule ?? '', rule);
  });
}

test('every refused gate is reported, not only the first', () => {
  const { problems } = resolveFeatures({ NoSuchGate: true, Neither: false, InPlacePodVerticalScaling: false });
  assert.equal(problems.length, 3);
});

const warned: [Record<string, boolean>, RegExp][] = [
  [{ DynamicKubeletConfig: true }, /gone from Kubernetes 1\.36/],
  [{ KubeletConfigFile: false }, /no effect/],
  [{ InPlacePodVerticalScaling: true }, /stable/],
  [{ AllowDNSOnlyNodeCSR: true }, /deprecated/],
];
for (const [requests, rule] of warned) {
  test(`accepted with a warning: ${JSON.stringify(requests)}`, () => {
    const { problems, warnings } = resolveFeatures(requests);
    assert.deepEqual(problems, []);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]?.rule ?? '', rule);
  });
}

test('AllAlpha enables alpha gates, except those that are set themselves', () => {
  const { features, problems } = resolveFeatures({ AllAlpha: true, QOSReserved: false });
  assert.deepEqual(problems, []);
  assert.equal(features.enabled('QOSReserved'), false);
  assert.equal(features.enabled('PodLevelResourceManagers'), true);
  const offAlpha = features.list().filter((f) => f.stage === 'alpha' && !f.enabled);
  assert.deepEqual(
    offAlpha.map((f) => f.name),
    ['QOSReserved'],
  );
});

test('AllBeta=false disables beta gates, except those that are set themselves', () => {
  const { features } = resolveFeatures({ AllBeta: false, RotateKubeletServerCertificate: true });
  assert.equal(features.enabled('RotateKubeletServerCertificate'), true);
  assert.equal(features.list().filter((f) => f.stage === 'beta' && f.enabled).length, 1);
});

test('removed gates are not known ones, and needs name known gates only', () => {
  for (const name of removedGates) assert.ok(!Object.hasOwn(gates, name), name);
  for (const [name, needs] of Object.entries(gateNeeds)) {
    for (const gate of [name, ...needs]) assert.ok(Object.hasOwn(gates, gate), gate);
  }
});

test('no request makes it throw', () => {
  const name = fc.oneof(fc.string(), fc.constantFrom(...Object.keys(gates), ...removedGates, 'AllAlpha', 'AllBeta'));
  fc.assert(
    fc.property(fc.dictionary(name, fc.boolean()), (requests) => {
      const { features, problems } = resolveFeatures(requests);
      assert.equal(features.list().length, Object.keys(gates).length + 2);
      for (const problem of problems) assert.ok(problem.rule.length > 0);
    }),
  );
});
