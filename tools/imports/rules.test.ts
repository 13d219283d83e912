import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Import, importsOf, judgeImport, judgePurity } from './rules.ts';

const cases: readonly [string, Import, RegExp | undefined][] = [
  ['a part uses base', { from: 'pods/pods.ts', to: 'base/clock.ts', typeOnly: false }, undefined],
  ['base knows no one', { from: 'base/clock.ts', to: 'api/pod.ts', typeOnly: false }, /higher layer/],
  ['model uses api', { from: 'model/pod-view.ts', to: 'api/pod.ts', typeOnly: true }, undefined],
  ['model knows no part', { from: 'model/pod-view.ts', to: 'pods/pods.ts', typeOnly: true }, /higher layer/],
  ['model knows no rules', { from: 'model/pod-view.ts', to: 'plan/grace.ts', typeOnly: true }, /higher layer/],
  ['api knows no model', { from: 'api/pod.ts', to: 'model/pod-view.ts', typeOnly: true }, /higher layer/],
  ['rules use the model', { from: 'status/rules/phase.ts', to: 'model/observation.ts', typeOnly: false }, undefined],
  ['model stays pure', { from: 'model/pod-view.ts', to: 'node:fs', typeOnly: false }, /pure/],
  ['config knows no host', { from: 'config/config.ts', to: 'host/flock.ts', typeOnly: false }, /higher layer/],
  ['host may use config', { from: 'host/flock.ts', to: 'config/config.ts', typeOnly: true }, undefined],
  [
    'only through the entry point',
    { from: 'pods/pods.ts', to: 'config/flags/table.ts', typeOnly: false },
    /no public entry point/,
  ],
  ['parts meet in compose', { from: 'pods/pods.ts', to: 'images/images.ts', typeOnly: false }, /compose/],
  ['types of a part may be named', { from: 'pods/pods.ts', to: 'images/images.ts', typeOnly: true }, undefined],
  ['compose sees all', { from: 'compose/compose.ts', to: 'pods/pods.ts', typeOnly: false }, undefined],
  [
    'compose uses entry points',
    { from: 'compose/pods.ts', to: 'pods/worker.ts', typeOnly: false },
    /no public entry point/,
  ],
  [
    'compose decides nothing',
    { from: 'compose/pods.ts', to: 'pods/rules/admission.ts', typeOnly: false },
    /no public entry point/,
  ],
  ['compose reads settings', { from: 'compose/node.ts', to: 'node/settings.ts', typeOnly: false }, undefined],
  ['compose has listed entry points', { from: 'compose/pods.ts', to: 'pods/mirrors.ts', typeOnly: false }, undefined],
  [
    'compose touches no files',
    { from: 'compose/pods.ts', to: 'node:fs/promises', typeOnly: false },
    /composition root/,
  ],
  ['compose reaches the machine by ports', { from: 'compose/pods.ts', to: 'host/disk.ts', typeOnly: false }, /Host/],
  ['compose names ports', { from: 'compose/pods.ts', to: 'host/ports.ts', typeOnly: true }, undefined],
  ['compose joins paths', { from: 'compose/pods.ts', to: 'node:path', typeOnly: false }, undefined],
  ['ports of a part may be named', { from: 'objects/for-images.ts', to: 'images/ports.ts', typeOnly: true }, undefined],
  ['no one sees compose', { from: 'pods/pods.ts', to: 'compose/compose.ts', typeOnly: true }, /higher layer/],
  ['rules stay pure', { from: 'eviction/rules/rank.ts', to: 'node:fs', typeOnly: false }, /pure/],
  [
    'rules use no effect of their part',
    { from: 'eviction/rules/rank.ts', to: 'eviction/loop.ts', typeOnly: false },
    /not pure/,
  ],
  ['rules use no host', { from: 'eviction/rules/rank.ts', to: 'host/statfs.ts', typeOnly: false }, /higher layer/],
  [
    'a pure file fills in a wire message',
    { from: 'runtime/spec/sandbox.ts', to: 'wire/gen/cri-runtime-v1.ts', typeOnly: false },
    undefined,
  ],
  [
    'a pure file makes no calls',
    { from: 'runtime/spec/sandbox.ts', to: 'wire/grpc-client.ts', typeOnly: false },
    /higher layer/,
  ],
  ['within a directory', { from: 'pods/pods.ts', to: 'pods/worker.ts', typeOnly: false }, undefined],
];

for (const [name, edge, expected] of cases) {
  test(name, () => {
    const verdict = judgeImport(edge);
    if (expected === undefined) assert.equal(verdict, undefined);
    else assert.match(verdict ?? 'accepted', expected);
  });
}

test('imports are found in every form', () => {
  const code = [
    "import { a } from './a.ts';",
    "import type { B } from './b.ts';",
    'import {',
    '  c,',
    "} from './c.ts';",
    "export { d } from './d.ts';",
    "import './e.ts';",
    "const f = await import('./f.ts');",
  ].join('\n');
  assert.deepEqual(
    importsOf(code).map((i) => [i.specifier, i.typeOnly, i.reExport]),
    [
      ['./a.ts', false, false],
      ['./b.ts', true, false],
      ['./c.ts', false, false],
      ['./d.ts', false, true],
      ['./e.ts', false, false],
      ['./f.ts', false, false],
    ],
  );
});

test('purity looks at code, not at words', () => {
  assert.deepEqual(judgePurity('api/x.ts', "// async\nconst a = 'new Date()';"), []);
  assert.equal(judgePurity('api/x.ts', 'const now = Date.now();').length, 1);
  assert.equal(judgePurity('model/x.ts', 'export async function f() {}').length, 1);
  assert.equal(judgePurity('plan/x.ts', 'export async function f() {}').length, 1);
  assert.deepEqual(judgePurity('act/x.ts', 'export async function f() {}'), []);
});
