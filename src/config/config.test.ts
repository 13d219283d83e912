import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Config,
  type ConfigEnvironment,
  type ConfigOutcome,
  diffConfigs,
  readConfig,
  renderArguments,
  renderConfigz,
} from './config.ts';
import { kubeletConfiguration } from './schema/kubelet-configuration.ts';
import { PROGRAM_VERSION } from './version.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
/** A standalone node: no one to ask about tokens. */
const standalone = 'authentication: {webhook: {enabled: false}}\nauthorization: {mode: AlwaysAllow}\n';

function environment(files: Record<string, string> = {}): ConfigEnvironment {
  const paths = Object.keys(files);
  return {
    workingDirectory: '/cwd',
    terminalWidth: () => 80,
    build: { nodeVersion: '26.0.0', platform: 'linux/amd64' },
    machine: () => ({ onlineCpus: [0, 1], numaNodes: [0], memoryBytes: 8n << 30n, cgroupVersion: 2 }),
    readTextFile: (path) => {
      const text = files[path];
      if (text === undefined) throw new Error(`ENOENT: ${path}`);
      return text;
    },
    listDir: (path) => {
      const below = paths.filter((file) => file.startsWith(`${path}/`)).map((file) => file.slice(path.length + 1));
      if (below.length === 0) throw new Error(`ENOENT: ${path}`);
      const names = new Set(below.map((file) => file.split('/')[0] ?? ''));
      return [...names].reverse().map((name) => ({ name, isDirectory: below.some((f) => f.startsWith(`${name}/`)) }));
    },
  };
}

function ready(outcome: ConfigOutcome): { config: Config; warnings: readonly string[] } {
  assert.equal(outcome.kind, 'ready', outcome.kind === 'refused' ? outcome.problems.join('\n') : '');
  assert.ok(outcome.kind === 'ready');
  return outcome;
}

function problemsOf(words: string[], files: Record<string, string> = {}): readonly string[] {
  const outcome = readConfig(words, environment(files));
  assert.ok(outcome.kind === 'refused', 'expected a refusal');
  return outcome.problems;
}

test('an address is explicit wherever it is set, unless it is empty or removed again', () => {
  const open = `${head}${standalone.replace('{webhook', '{anonymous: {enabled: true}, webhook')}`;
  const listens = (file: string, dropin: string, ...flags: string[]) => {
    const files = { '/etc/kubelet.yaml': `${open}${file}`, '/etc/conf.d/10-a.conf': `${head}${dropin}` };
    const words = ['--config=/etc/kubelet.yaml', '--config-dir=/etc/conf.d', ...flags];
    const { config, warnings } = ready(readConfig(words, environment(files)));
    const { server, isAddressGiven } = config.listen;
    return [server?.address, isAddressGiven, warnings.some((warning) => warning.startsWith('listening on'))];
  };
  const kept = ['127.0.0.1', false, true];
  assert.deepEqual(listens('', ''), kept);
  assert.deepEqual(listens('address: 0.0.0.0', ''), ['0.0.0.0', true, false]);
  assert.deepEqual(listens('', 'address: 192.0.2.1'), ['192.0.2.1', true, false]);
  assert.deepEqual(listens('', '', '--address=0.0.0.0'), ['0.0.0.0', true, false]);
  assert.deepEqual(listens('address: ""', ''), kept);
  assert.deepEqual(listens('address: 0.0.0.0', 'address: null'), kept);
});

test('each setting without effect is reported once with its position, and only if it is not the default', () => {
  const warned = (file: string, dropin: string, ...flags: string[]) => {
    const files = { '/k.yaml': `${head}${standalone}${file}`, '/d/1.conf': `${head}${dropin}` };
    const words = ['--config=/k.yaml', '--config-dir=/d', ...flags];
    return ready(readConfig(words, environment(files))).warnings.filter((warning) => warning.includes('no effect'));
  };
  assert.deepEqual(warned('', ''), []);
  assert.deepEqual(warned('cpuManagerPolicy: none\nevictionHard: {}\ncontentType: ""\n', ''), []);
  assert.deepEqual(warned('', '', '--topology-manager-policy=none', '--housekeeping-interval=10s'), []);
  assert.deepEqual(warned('enableContentionProfiling: true\n', 'tracing: {samplingRatePerMillion: 5}\n', '--v=1'), [
    '/k.yaml:5: enableContentionProfiling: has no effect: Node.js has no such profile (found true)',
    '/d/1.conf:3: tracing: has no effect: tracing is not built yet (found {"samplingRatePerMillion":5})',
  ]);
  assert.deepEqual(warned('', '', '--contention-profiling', '--enable-load-reader'), [
    'flag --contention-profiling: enableContentionProfiling: has no effect: Node.js has no such profile (found true)',
    'flag --enable-load-reader: has no effect: that part of cAdvisor is not built yet (found true)',
  ]);
  assert.deepEqual(warned('featureGates: {PodsAPI: true}\n', ''), [
    '/k.yaml:5: featureGates.PodsAPI: has no effect: this kubelet does not have the feature (found true)',
  ]);
  assert.doesNotMatch(warned('', '', '--storage-driver-password=s3cret').join(), /s3cret/);
});

test('each source overrides the one before it', () => {
  const files: Record<string, string> = {
    '/etc/kubelet.yaml': `${head}${standalone}maxPods: 2\npodsPerCore: 2\nregistryBurst: 2\neventBurst: 2\n`,
    '/etc/conf.d/10-a.conf': `${head}podsPerCore: 3\nregistryBurst: 3\neventBurst: 3\n`,
    '/etc/conf.d/20-b.conf': `${head}registryBurst: 4\neventBurst: 4\n`,
    '/etc/conf.d/30-ignored.yaml': 'not read',
  };
  const words = ['--config=/etc/kubelet.yaml', '--config-dir=/etc/conf.d', '--event-burst=6'];
  const { config } = ready(readConfig(words, environment(files)));
  const { kubelet, origins } = config;
  const values = [
    kubelet.registryPullQPS,
    kubelet.maxPods,
    kubelet.podsPerCore,
    kubelet.registryBurst,
    kubelet.eventBurst,
  ];
  assert.deepEqual(values, [5, 2, 3, 4, 6]);
  const paths = ['registryPullQPS', 'maxPods', 'podsPerCore', 'registryBurst', 'eventBurst'];
  assert.deepEqual(
    paths.map((path) => origins.of(path)),
    ['default', '/etc/kubelet.yaml:5', '/etc/conf.d/10-a.conf:3', '/etc/conf.d/20-b.conf:3', '--event-burst'],
  );
});

test('dynamic configuration overrides the files, and flags override it', () => {
  const files = { '/k.yaml': `${head}${standalone}maxPods: 2\npodsPerCore: 2\n` };
  const overlaid: ConfigEnvironment = {
    ...environment(files),
    overlay: (fromFiles) => ({
      ...fromFiles,
      maxPods: fromFiles.maxPods + 100,
      podsPerCore: 3,
      featureGates: { AllAlpha: true },
    }),
  };
  const { config } = ready(readConfig(['--config=/k.yaml', '--pods-per-core=4'], overlaid));
  assert.equal(config.kubelet.maxPods, 102);
  assert.equal(config.kubelet.podsPerCore, 4);
  assert.equal(config.features.enabled('QOSReserved'), true);
});

test('drop-ins are read in the order of their names, with subdirectories', () => {
  const files = {
    '/d/10.conf': `${head}clusterDomain: a\n`,
    '/d/20/z.conf': `${head}clusterDomain: b\n`,
    '/d/20/sub/a.conf': `${head}clusterDomain: c\n`,
    '/d/9.conf': `${head}clusterDomain: d\n`,
  };
  const { config } = ready(readConfig(['--config-dir=/d', '--read-only-port=0'], environment(files)));
  assert.equal(config.origins.of('clusterDomain'), '/d/9.conf:3');
  assert.equal(config.kubelet.clusterDomain, 'd');
});

test('without --config the older defaults of the flags apply, with it the secure ones', () => {
  const old = ready(readConfig([], environment())).config.kubelet;
  assert.equal(old.authentication.anonymous.enabled, true);
  assert.equal(old.authorization.mode, 'AlwaysAllow');
  assert.equal(old.readOnlyPort, 10255);
  const files = { '/cwd/k.yaml': head };
  const secure = ready(readConfig(['--config=k.yaml', '--kubeconfig=/kc'], environment(files))).config.kubelet;
  assert.equal(secure.authentication.anonymous.enabled, false);
  assert.equal(secure.authorization.mode, 'Webhook');
  assert.equal(secure.readOnlyPort, 0);
});

test('drop-ins without a file override the older defaults', () => {
  const { config } = ready(readConfig(['--config-dir=/d'], environment({ '/d/a.conf': `${head}maxPods: 7\n` })));
  assert.equal(config.kubelet.maxPods, 7);
  assert.equal(config.kubelet.readOnlyPort, 10255);
});

test('a flag may set a zero that a file may not', () => {
  const { config } = ready(readConfig(['--registry-burst=0'], environment()));
  assert.equal(config.kubelet.registryBurst, 0);
});

test('all problems of flags, file and their result are reported at once, each with its position', () => {
  const files = { '/k.yaml': `${head}${standalone}maxPods: -1\nsyncFrequency: 60\nfeatureGates: {NoSuchGate: true}\n` };
  const words = ['--config=/k.yaml', '--port=70000', '--node-labels=kubernetes.io/foo=bar', '--feature-gates=Nor=true'];
  const problems = problemsOf(words, files);
  for (const expected of [
    /^\/k\.yaml:6:\d+: syncFrequency: /,
    /^\/k\.yaml:5: maxPods: .*\(found -1\)$/,
    /^\/k\.yaml:7: featureGates\.NoSuchGate: unrecognized feature gate/,
    /^flag --feature-gates: featureGates\.Nor: unrecognized/,
    /^flag --port: port: .*\(found 70000\)$/,
    /^flag --node-labels: the label key "kubernetes\.io\/foo"/,
  ]) {
    assert.ok(
      problems.some((problem) => expected.test(problem)),
      `${expected} in\n${problems.join('\n')}`,
    );
  }
  assert.equal(problems.length, 6);
});

const unreadable: [string[], Record<string, string>, RegExp][] = [
  [['--config=/nope.yaml'], {}, /^flag --config: can't read \/nope\.yaml: ENOENT/],
  [['--config-dir=/nope'], {}, /^flag --config-dir: can't list \/nope: ENOENT/],
  [['--config=/k.yaml'], { '/k.yaml': '\u0000garbage: [' }, /^\/k\.yaml:1/],
  [['--config=/k.yaml'], { '/k.yaml': 'kind: Pod\napiVersion: v1\n' }, /^\/k\.yaml:1:\d+: kind: /],
  [['--config=/k.yaml'], { '/k.yaml': '' }, /^\/k\.yaml:/],
];
for (const [words, files, expected] of unreadable) {
  test(`refused: ${words.join(' ')} ${JSON.stringify(files)}`, () => {
    assert.match(problemsOf(words, files)[0] ?? '', expected);
  });
}

test('unknown fields warn, and are refused with --strict-config', () => {
  const files = { '/k.yaml': `${head}${standalone}maxPodz: 3\n` };
  const { warnings } = ready(readConfig(['--config=/k.yaml'], environment(files)));
  assert.ok(
    warnings.some((warning) => /^\/k\.yaml:5:1: maxPodz: .*maxPods/.test(warning)),
    warnings.join('\n'),
  );
  assert.match(problemsOf(['--config=/k.yaml', '--strict-config'], files)[0] ?? '', /maxPodz/);
});

test('a bad flag is refused with a hint, before any file is read', () => {
  const outcome = readConfig(['--max-pods=x', '--config=/nope'], environment());
  assert.ok(outcome.kind === 'refused');
  assert.equal(outcome.problems.length, 1);
  assert.match(outcome.hint, /kubelet --help/);
});

const printed: [string[], RegExp][] = [
  [['--version'], /^Kubernetes v1\.36\.4\n$/],
  [
    ['--version=raw'],
    /^version\.Info\{Major:"1", Minor:"36", .*GitVersion:"v1\.36\.4".*Compiler:"kubelet-ts [\d.]+", Platform:"linux\/amd64"\}\n$/,
  ],
  [['-h'], /^Usage: kubelet \[flags\]\n/],
  [['--no-such', '--help'], /^Usage: /],
];
for (const [words, expected] of printed) {
  test(`printed for ${words.join(' ')}`, () => {
    const outcome = readConfig(words, environment());
    assert.ok(outcome.kind === 'print');
    assert.match(outcome.text, expected);
  });
}

test('a custom version is reported', () => {
  const { config } = ready(readConfig(['--version=v1.36.4-mine'], environment()));
  assert.equal(config.settings.node.reportedVersion, 'v1.36.4-mine');
});

test('the version of the program is the one of its package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  assert.equal(PROGRAM_VERSION, version);
});

test('old fields of the file become settings, and flags override them', () => {
  const files = {
    '/k.yaml': `${head}${standalone}cAdvisorPort: 4000\nmaxContainerCount: 7\nrequireKubeConfig: true\nnetworkPluginDir: /net\ncloudProvider: aws\n`,
  };
  const { config, warnings } = ready(
    readConfig(['--config=/k.yaml', '--maximum-dead-containers=9'], environment(files)),
  );
  const { settings } = config;
  assert.equal(settings.cadvisor.port, 4000);
  assert.equal(settings.containers.deadTotal, 9);
  assert.equal(settings.api.kubeconfig, '/var/lib/kubelet/kubeconfig');
  assert.deepEqual([settings.network.cniConfDir, settings.network.cniBinDir], ['/net', '/net']);
  assert.equal(settings.cloud.provider, 'aws');
  assert.equal(warnings.filter((warning) => /old field/.test(warning)).length, 5);
});

test('--require-kubeconfig keeps an explicit path', () => {
  const { config } = ready(readConfig(['--require-kubeconfig', '--kubeconfig=/mine'], environment()));
  assert.equal(config.settings.api.kubeconfig, '/mine');
});

test('the file or the flag enables seccomp by default', () => {
  const files = { '/k.yaml': `${head}${standalone}seccompDefault: true\n` };
  const fromFile = ready(readConfig(['--config=/k.yaml'], environment(files))).config;
  const fromFlag = ready(readConfig(['--seccomp-default'], environment())).config;
  assert.equal(fromFile.settings.containers.seccompDefault, true);
  assert.equal(fromFlag.settings.containers.seccompDefault, true);
});

test('the result is frozen all the way down', () => {
  const { config } = ready(readConfig(['--node-labels=a=b', '--cluster-dns=10.0.0.1'], environment()));
  const pending: unknown[] = [config];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    assert.ok(Object.isFrozen(value));
    pending.push(...Object.values(Object(value)).filter((child) => typeof child === 'object' && child !== null));
  }
});

test('a reload reports what changed and what needs a restart', () => {
  const read = (text: string) =>
    ready(readConfig(['--config=/k.yaml'], environment({ '/k.yaml': `${head}${standalone}${text}` }))).config;
  const before = read(
    'logging: {verbosity: 2}\nevictionHard: {memory.available: 1Gi}\nstaticPodURLHeader: {a: [s3cret]}\n',
  );
  const after = read('logging: {verbosity: 4}\nevictionHard: {memory.available: 2Gi}\nclusterDNS: [10.0.0.1]\n');
  assert.deepEqual(diffConfigs(before, before), []);
  assert.deepEqual(diffConfigs(before, after), [
    { path: 'staticPodURLHeader', before: '<masked>', after: '<masked>', live: false },
    { path: 'clusterDNS', before: [], after: ['10.0.0.1'], live: false },
    { path: 'evictionHard.memory.available', before: '1Gi', after: '2Gi', live: false },
    { path: 'logging.verbosity', before: 2, after: 4, live: true },
  ]);
});

test('the flags are shown as the reference shows them', () => {
  const recorded = readFileSync(new URL('./testdata/flagz.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .slice(3);
  const words = ['--config=/k.yaml', '--cert-dir=$LAB/kpki-go', '--hostname-override=labnode'];
  const more = ['--kubeconfig=$LAB/pki/node.kubeconfig', '--node-ip=192.0.2.10', '--root-dir=$ROOT', '-v', '2'];
  const files = { '/k.yaml': `${head}${standalone}maxPods: 3\n` };
  const { config } = ready(readConfig([...words, ...more], environment(files)));
  const ours = new Map(config.flagValues().map(({ name, value }) => [name, value]));
  for (const line of recorded.filter((text) => !text.startsWith('config:'))) {
    const [, name = '', value = ''] = /^([^:]+): ?(.*)$/.exec(line) ?? [];
    assert.equal(ours.get(name), value, name);
  }
});

test('pages show the names of the static pod URL headers, and not their values', () => {
  const files = { '/k.yaml': `${head}${standalone}staticPodURL: http://x\n` };
  const flags = ['--config=/k.yaml', '--manifest-url-header=Cookie:s3cret'];
  const { config } = ready(readConfig(flags, environment(files)));
  const { kubeletconfig } = renderConfigz(config) as { kubeletconfig: { staticPodURLHeader: unknown } };
  assert.deepEqual(kubeletconfig.staticPodURLHeader, { Cookie: ['<masked>'] });
  assert.deepEqual(config.kubelet.staticPodURLHeader['Cookie'], ['s3cret']);
  const flagz = config.flagValues().find(({ name }) => name === 'manifest-url-header');
  assert.equal(flagz?.value, 'Cookie:<masked>');
  assert.deepEqual(
    renderArguments(['kubelet', '--manifest-url-header=a:s3cret', '-manifest-url-header', 'b:s3cret', '--v=2']),
    ['kubelet', '--manifest-url-header=<masked>', '-manifest-url-header', '<masked>', '--v=2'],
  );
  assert.deepEqual(renderArguments(['--manifest_url_header', 's3cret']), ['--manifest_url_header', '<masked>']);
  const wrong = problemsOf(['--manifest-url-header=s3cret']);
  assert.match(wrong.join(), /flag --manifest-url-header: "<masked>" is not allowed: use name:value pairs/);
});

test('no command line and no file makes readConfig throw', () => {
  const word = fc.oneof(fc.string(), fc.constantFrom('--config=/k.yaml', '--config-dir=/d', '-h', '--version', '--v'));
  fc.assert(
    fc.property(fc.array(word, { maxLength: 5 }), fc.string(), fc.string(), (words, file, dropin) => {
      const outcome = readConfig(words, environment({ '/k.yaml': file, '/d/a.conf': head + dropin }));
      assert.ok(['print', 'refused', 'ready'].includes(outcome.kind));
    }),
    { numRuns: 300 },
  );
});

test('no value in any field of a file makes readConfig throw', () => {
  const name = fc.constantFrom(...Object.keys(kubeletConfiguration.fields));
  const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.stringMatching(/^-?[0-9]{0,3}(s|ms|Mi|%|Gi|m)?$/));
  fc.assert(
    fc.property(fc.dictionary(name, value), fc.dictionary(name, value), (file, dropin) => {
      const files = { '/k.yaml': head + yamlOf(file), '/d/a.conf': head + yamlOf(dropin) };
      const outcome = readConfig(['--config=/k.yaml', '--config-dir=/d'], environment(files));
      assert.ok(outcome.kind !== 'print');
    }),
    { numRuns: 1000 },
  );
});

/** JSON is YAML: each field on a line of its own. */
function yamlOf(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join('');
}
