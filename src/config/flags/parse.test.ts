import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { applyDefaults } from '../schema/defaults.ts';
import { defaultSettings } from '../settings.ts';
import { parseCommandLine } from './parse.ts';
import { flagTable } from './table.ts';
import { type Configurable, noRequest } from './target.ts';

const base: Configurable = { kubelet: applyDefaults({}), settings: defaultSettings, request: noRequest };

function parse(...words: string[]) {
  const line = parseCommandLine(words, flagTable);
  return { ...line, result: line.apply(base) };
}

const accepted: [string[], (c: Configurable) => unknown, unknown][] = [
  [['--max-pods', '5'], (c) => c.kubelet.maxPods, 5],
  [['--max-pods=5'], (c) => c.kubelet.maxPods, 5],
  [['--max_pods=5'], (c) => c.kubelet.maxPods, 5],
  [['--max-pods=10', '--max-pods=20'], (c) => c.kubelet.maxPods, 20],
  [['--oom-score-adj', '-500'], (c) => c.kubelet.oomScoreAdj, -500],
  [['--config', '--v=3'], (c) => c.settings.sources.configFile, '--v=3'],
  [['--config='], (c) => c.settings.sources.configFile, ''],
  [['--runonce'], (c) => c.kubelet.runOnce, true],
  [['--runonce=false'], (c) => c.kubelet.runOnce, false],
  [['--runonce', '--v=1'], (c) => c.kubelet.logging.verbosity, 1],
  [['-v', '3'], (c) => c.kubelet.logging.verbosity, 3],
  [['-v=3'], (c) => c.kubelet.logging.verbosity, 3],
  [['-v3'], (c) => c.kubelet.logging.verbosity, 3],
  [['--v', '3'], (c) => c.kubelet.logging.verbosity, 3],
  [['-h'], (c) => c.request.help, true],
  [['-hv3'], (c) => [c.request.help, c.kubelet.logging.verbosity], [true, 3]],
  [['-h=false'], (c) => c.request.help, false],
  [['--version'], (c) => c.request.version, 'true'],
  [['--version=raw'], (c) => c.request.version, 'raw'],
  [['--cluster-dns=a,b', '--cluster-dns', 'c'], (c) => c.kubelet.clusterDNS, ['a', 'b', 'c']],
  [['--enforce-node-allocatable=none'], (c) => c.kubelet.enforceNodeAllocatable, ['none']],
  [['--node-labels=a=b', '--node-labels=c=d'], (c) => c.settings.node.labels, { a: 'b', c: 'd' }],
  [
    ['--eviction-hard=memory.available<1Gi', '--eviction-hard=nodefs.available<5%'],
    (c) => c.kubelet.evictionHard,
    { 'memory.available': '1Gi', 'nodefs.available': '5%' },
  ],
  [['--address='], (c) => c.kubelet.address, '0.0.0.0'],
  [['--container-runtime=remote'], (c) => c.settings.containers.runtime, 'remote'],
  [['--'], (c) => c.request.help, false],
  [[], (c) => c.kubelet.maxPods, 110],
];
for (const [words, pick, expected] of accepted) {
  test(`accepted: ${words.join(' ')}`, () => {
    const { problems, result } = parse(...words);
    assert.deepEqual(problems, []);
    assert.deepEqual(pick(result), expected);
  });
}

const refused: [string[], RegExp][] = [
  [['--no-such'], /^unknown flag --no-such$/],
  [['--no-such', 'value'], /^unknown flag --no-such$/],
  [['--max-podz=3'], /^unknown flag --max-podz; did you mean --max-pods\?$/],
  [['--Max-Pods=3'], /did you mean --max-pods\?/],
  [['-max-pods=3'], /unknown flag -m in "-max-pods=3"; did you mean --max-pods\?/],
  [['-x'], /^unknown flag -x$/],
  [['--max-pods=x'], /^flag --max-pods: "x" is not allowed: use a whole number/],
  [['--max-pods='], /--max-pods: "" is not allowed/],
  [['--max-pods'], /^flag --max-pods needs a value \(int32\)$/],
  [['-v'], /^flag --v needs a value \(level\)$/],
  [['--sync-frequency=1'], /--sync-frequency: "1" is not allowed: use a duration with its unit/],
  [['--runonce=maybe'], /--runonce: "maybe" is not allowed: use true or false/],
  [['--runonce', 'false'], /unexpected argument "false"/],
  [['extra'], /^unexpected argument "extra": the kubelet takes flags only$/],
  [['--', '--v=1'], /unexpected argument "--v=1"/],
  [['-'], /unexpected argument "-"/],
  [[''], /unexpected argument ""/],
  [['---v'], /unknown flag ---v/],
  [['--=x'], /^unknown flag --$/],
  [['--container-runtime=docker'], /"docker" is not allowed: use one of: remote/],
  [['--max-pods=1', '--max-pods=x'], /"x" is not allowed/],
];
for (const [words, expected] of refused) {
  test(`refused in one line: ${words.join(' ')}`, () => {
    const { problems } = parse(...words);
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? '', expected);
    assert.ok(!problems[0]?.includes('\n'));
  });
}

test('every bad flag is reported at once', () => {
  assert.equal(parse('--no-such', '--max-pods=x', 'extra', '--port=y').problems.length, 4);
});

test('a deprecated flag warns once, however often it is used', () => {
  const { warnings } = parse('--max-pods=1', '--max-pods=2', '--root-dir=/x');
  assert.deepEqual(warnings, [
    'Flag --max-pods has been deprecated, set it in the configuration file (--config) instead (maxPods)',
  ]);
});

test('gates of flags are merged with those of the file, module levels are appended', () => {
  const line = parseCommandLine(['--feature-gates=A=false', '--vmodule=b=2'], flagTable);
  const kubelet = {
    ...base.kubelet,
    featureGates: { A: true, B: true },
    logging: { ...base.kubelet.logging, vmodule: [{ filePattern: 'a', verbosity: 1 }] },
  };
  const result = line.apply({ ...base, kubelet });
  assert.deepEqual(result.kubelet.featureGates, { A: false, B: true });
  assert.deepEqual(
    result.kubelet.logging.vmodule.map((item) => item.filePattern),
    ['a', 'b'],
  );
});

test('a flag replaces the map and the list of the file', () => {
  const line = parseCommandLine(['--eviction-hard=a<1', '--cluster-dns=1.1.1.1'], flagTable);
  const kubelet = { ...base.kubelet, evictionHard: { b: '2' }, clusterDNS: ['2.2.2.2'] };
  const result = line.apply({ ...base, kubelet });
  assert.deepEqual(result.kubelet.evictionHard, { a: '1' });
  assert.deepEqual(result.kubelet.clusterDNS, ['1.1.1.1']);
});

test('nothing on a command line makes the parser throw or change what it was given', () => {
  const before = structuredClone(base);
  const name = fc.constantFrom(...flagTable.map((flag) => flag.name));
  const text = fc.oneof(fc.string(), fc.stringMatching(/^[-+0-9a-zA-Z.:=<,;_%]{0,12}$/));
  const word = fc.oneof(
    fc.string(),
    name.map((n) => `--${n}`),
    fc.tuple(name, text).map(([n, t]) => `--${n.replaceAll('-', '_')}=${t}`),
    text.map((t) => `-v${t}`),
    text.map((t) => `-${t}`),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), (words) => {
      const { problems, result } = parse(...words);
      for (const problem of problems) assert.equal(typeof problem, 'string');
      assert.ok(result.kubelet);
    }),
    { numRuns: 500 },
  );
  assert.deepEqual(base, before);
});
