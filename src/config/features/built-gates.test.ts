import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { alwaysBuilt, builtGates, isBuilt, readAhead } from './built-gates.ts';
import { resolveFeatures } from './features.ts';
import { type GateName, gates } from './gates.ts';

const src = join(import.meta.dirname, '../..');
const code = globSync('**/*.ts', { cwd: src })
  .filter((file) => !file.startsWith('config/') && !/\.test\.ts$|testing|\/gen\//.test(file))
  .map((file) => readFileSync(join(src, file), 'utf8'))
  .join('\n');
const isAsked = (gate: string) => code.includes(`'${gate}'`);

test('every gate that code reads is built, or read ahead of its feature', () => {
  const unknown = Object.keys(gates).filter(
    (gate) => isAsked(gate) && !isBuilt(gate) && !Object.hasOwn(readAhead, gate),
  );
  assert.deepEqual(unknown, []);
  const both = Object.keys(readAhead).filter((gate) => isBuilt(gate) || !isAsked(gate));
  assert.deepEqual(both, [], 'built meanwhile, or no longer asked about');
});

test('a built gate can be disabled as in the reference, or is listed as always on', () => {
  const judges = globSync('rules/validate*.ts', { cwd: join(src, 'config') })
    .map((file) => readFileSync(join(src, 'config', file), 'utf8'))
    .join('\n');
  const fixed = Object.keys(builtGates)
    .filter((gate) => !isAsked(gate) && !judges.includes(`'${gate}'`))
    .filter((gate) => !('locked' in gates[gate as GateName]));
  assert.deepEqual(fixed.sort(), [...alwaysBuilt].sort());
});

for (const [gate, file] of Object.entries(builtGates)) {
  test(`${gate} is where the table says`, () => assert.ok(existsSync(join(src, file)), file));
}

test('enabling a gate that is not built is reported once, disabling it or not setting it is not', () => {
  const warned = (requests: Readonly<Record<string, boolean>>) =>
    resolveFeatures(requests).warnings.map(({ path, rule }) => `${path}: ${rule}`);
  assert.deepEqual(warned({ PodsAPI: true }), [
    'featureGates.PodsAPI: has no effect: this kubelet does not have the feature',
  ]);
  assert.deepEqual(warned({ PodsAPI: true }).length, 1);
  assert.deepEqual(warned({ PodsAPI: false, ContainerStopSignals: true }), []);
  assert.deepEqual(warned({ PLEGOnDemandRelist: true, EventedPLEG: false }), []);
  assert.deepEqual(warned({ PLEGOnDemandRelist: false }), [
    'featureGates.PLEGOnDemandRelist: has no effect: the feature is always on',
  ]);
  assert.equal(warned({ DynamicResourceAllocation: true }).length, 1, 'stable as well: one line');
});
