import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { renderKubeletConfiguration } from '../schema/configz.ts';
import { kubeletConfiguration } from '../schema/kubelet-configuration.ts';
import { completeConfiguration } from './complete.ts';
import { type ConfigSource, decodeKubeletConfiguration } from './decode.ts';
import { formatFileProblem } from './report.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

function decodeText(text: string, strict = false) {
  return decodeKubeletConfiguration([{ path: 'k.yaml', text, kind: 'file' }], { strict });
}

/** The body begins on line 3. */
function decodeBody(body: string, strict = false) {
  return decodeText(head + body, strict);
}

function decodeLayers(file: string, ...dropins: readonly string[]) {
  const sources: ConfigSource[] = dropins.map((body, index) => ({
    path: `${index + 1}.conf`,
    text: head + body,
    kind: 'dropin',
  }));
  return decodeKubeletConfiguration([{ path: '/etc/k.yaml', text: head + file, kind: 'file' }, ...sources], {
    strict: false,
  });
}

const refused: readonly (readonly [text: string, message: RegExp])[] = [
  ['', /^k\.yaml:1:1: the file is empty$/],
  ['# nothing\n', /^k\.yaml:1:1: the file is empty$/],
  ['---\n', /^k\.yaml:1:1: the file is empty$/],
  ['hello', /^k\.yaml:1:1: must be a KubeletConfiguration; found the string "hello"$/],
  ['- a', /^k\.yaml:1:1: must be a KubeletConfiguration; found a list$/],
  ['a: [1', /^k\.yaml:1:6: not valid YAML or JSON: /],
  ['a: b\n\tc: d', /^k\.yaml:2:1: not valid YAML or JSON: /],
  ['\u0000\u0001\u0002', /^k\.yaml:1:1: must be a KubeletConfiguration/],
  ['a: *b', /^k\.yaml:1:4: no anchor &b before this alias$/],
  ['a: &a [*a]', /^k\.yaml:1:8: no anchor &a before this alias$/],
  ['? [a]\n: b', /^k\.yaml:1:3: a key must be a single word, not list$/],
  ['a: !!int x', /^k\.yaml:1:10: "x" can't be read as tag:yaml.org,2002:int$/],
  ['<<: 5', /^k\.yaml:1:5: << must name a map or a list of maps$/],
  ['[[[[['.repeat(2000), /^k\.yaml:1:201: nested deeper than 200 levels$/],
  ['kind: KubeletConfiguration', /^k\.yaml:1:1: apiVersion: missing; must be kubelet\.config\.k8s\.io\/v1beta1$/],
  ['apiVersion: kubelet.config.k8s.io/v1beta1', /^k\.yaml:1:1: kind: missing; must be KubeletConfiguration$/],
  [head.replace('v1beta1', 'v1'), /^k\.yaml:1:13: apiVersion: must be .*v1beta1; found the string ".*\/v1"$/],
  [head.replace('Kubelet', 'kubelet'), /^k\.yaml:2:7: kind: must be KubeletConfiguration; found the string "kubelet/],
];

test('a file that is no configuration is refused with its position', () => {
  for (const [text, message] of refused) {
    const { problems, values } = decodeText(text);
    assert.match(problems.map(formatFileProblem).join('\n'), message, JSON.stringify(text.slice(0, 40)));
    assert.deepEqual(values, {});
  }
});

const badValues: readonly (readonly [body: string, message: string])[] = [
  ['maxPods: many', '3:10: maxPods: must be an integer from -2147483648 to 2147483647; found the string "many"'],
  ['maxPods: 1.5', '3:10: maxPods: must be an integer from -2147483648 to 2147483647; found 1.5'],
  ['maxPods: 2147483648', '3:10: maxPods: must be an integer from -2147483648 to 2147483647; found 2147483648'],
  ['maxPods: [1]', '3:10: maxPods: must be an integer from -2147483648 to 2147483647; found a list'],
  ['logging:\n  verbosity: -1', '4:14: logging.verbosity: must be an integer from 0 to 4294967295; found -1'],
  ['enableServer: "true"', '3:15: enableServer: must be true or false, without quotes; found the string "true"'],
  ['enableServer: 1', '3:15: enableServer: must be true or false, without quotes; found 1'],
  ['clusterDomain: 5', '3:16: clusterDomain: must be a string, in quotes if need be; found 5'],
  ['clusterDomain: no', '3:16: clusterDomain: must be a string, in quotes if need be; found false'],
  ['syncFrequency: 60', '3:16: syncFrequency: must be a duration with a unit, such as 1m30s; found 60'],
  [
    'syncFrequency: "60"',
    '3:16: syncFrequency: "60" is not a duration, the unit is missing: ' +
      'write a number with a unit (ns, us, ms, s, m, h), such as 1m30s',
  ],
  ['memoryThrottlingFactor: .nan', '3:25: memoryThrottlingFactor: must be a number; found NaN'],
  ['clusterDNS: {a: b}', '3:13: clusterDNS: must be a list; found a map'],
  ['clusterDNS: [1]', '3:14: clusterDNS[0]: must be a string, in quotes if need be; found 1'],
  ['evictionHard: []', '3:15: evictionHard: must be a map; found a list'],
  [
    'evictionHard:\n  memory.available: 5',
    '4:21: evictionHard.memory.available: must be a string, in quotes if need be; found 5',
  ],
  ['authentication: on', '3:17: authentication: must be a map of fields; found true'],
  [
    'authentication: {webhook: {enabled: "no"}}',
    '3:37: authentication.webhook.enabled: must be true or false, without quotes; found the string "no"',
  ],
  [
    'registerWithTaints: [{key: 1}]',
    '3:28: registerWithTaints[0].key: must be a string, in quotes if need be; found 1',
  ],
  ['staticPodURLHeader: {a: s3cret}', '3:25: staticPodURLHeader.a: must be a list; found something else'],
];

test('a wrong value is refused with file, line, column, field, rule and value', () => {
  for (const [body, message] of badValues) {
    assert.deepEqual(decodeBody(body).problems.map(formatFileProblem), [`k.yaml:${message}`], body);
  }
});

test('a bad quantity is refused where the API wants one', () => {
  const [problem] = decodeBody('reservedMemory: [{numaNode: 0, limits: {memory: 1x}}]').problems;
  assert.equal(problem?.path, 'reservedMemory[0].limits.memory');
  assert.match(problem.text, /"1x" is not a quantity/);
});

test('a refused item removes its list, but not its map', () => {
  const { problems, values } = decodeBody(
    'clusterDNS: [a, 5]\nevictionHard: {a: b, c: 5}\nstaticPodURLHeader: {a: [5]}',
  );
  assert.equal(problems.length, 3);
  assert.deepEqual(values, { evictionHard: { a: 'b' }, staticPodURLHeader: {} });
});

test('all problems are reported at once', () => {
  const { problems } = decodeBody('maxPods: x\nenableServer: x\nlogging: {verbosity: x}\nclusterDNS: 5\n');
  const paths = problems.map(({ path }) => path);
  assert.deepEqual(paths, ['maxPods', 'enableServer', 'logging.verbosity', 'clusterDNS']);
});

const doubts: readonly (readonly [body: string, message: string])[] = [
  ['maxPodz: 3', '3:1: maxPodz: unknown field; did you mean maxPods?'],
  ['MaxPods: 3', '3:1: MaxPods: unknown field; did you mean maxPods?'],
  ['logging: {fromat: text}', '3:11: logging.fromat: unknown field; did you mean format?'],
  [
    'registerWithTaints: [{key: a, efect: b}]',
    '3:31: registerWithTaints[0].efect: unknown field; did you mean effect?',
  ],
  ['somethingElseAltogether: 3', '3:1: somethingElseAltogether: unknown field'],
  ['toString: 3', '3:1: toString: unknown field'],
  ['__proto__: {maxPods: 3}', '3:1: __proto__: unknown field'],
  ['maxPods: 3\nmaxPods: 4', '4:1: maxPods: written twice, first on line 3; the last one counts'],
  ['evictionHard: {a: b, a: c}', '3:22: evictionHard.a: written twice, first on line 3; the last one counts'],
  ['---\nkind: Other', '3:1: a second YAML document begins here and is not read'],
];

test('unknown fields and repeated keys are warnings, and problems in strict mode', () => {
  for (const [body, message] of doubts) {
    const lenient = decodeBody(body);
    assert.deepEqual(lenient.warnings.map(formatFileProblem), [`k.yaml:${message}`], body);
    assert.deepEqual(lenient.problems, [], body);
    const strict = decodeBody(body, true);
    assert.deepEqual(strict.problems.map(formatFileProblem), [`k.yaml:${message}`], body);
  }
  assert.equal(decodeBody('maxPods: 3\nmaxPods: 4').values.maxPods, 4);
});

test('only what was written is set', () => {
  const { values, warnings } = decodeBody('maxPods: 0\nlogging: {verbosity: 3}\nclusterDomain:\nevictionSoft: {}\n');
  assert.deepEqual(values, { maxPods: 0, logging: { verbosity: 3 }, evictionSoft: {} });
  assert.deepEqual(warnings, []);
});

test('items of a list are complete', () => {
  const { values } = decodeBody('registerWithTaints: [{key: a}, null]');
  const empty = { key: '', value: '', effect: '' };
  assert.deepEqual(values.registerWithTaints, [{ ...empty, key: 'a' }, empty]);
});

test('relative paths of the file count from its directory, those of drop-ins do not', () => {
  const { values } = decodeLayers(
    'staticPodPath: pods\nresolvConf: ""\ntlsCertFile: ../x.crt\n',
    'volumePluginDir: plugins',
  );
  assert.equal(values.staticPodPath, '/etc/pods');
  assert.equal(values.resolvConf, '');
  assert.equal(values.tlsCertFile, '/x.crt');
  assert.equal(values.volumePluginDir, 'plugins');
});

test('JSON is read like YAML', () => {
  const text = `{\n\t"kind": "KubeletConfiguration",\n\t"apiVersion": "kubelet.config.k8s.io/v1beta1",\n\t"maxPods": "x"\n}`;
  assert.match(
    decodeText(text).problems.map(formatFileProblem).join('\n'),
    /^k\.yaml:4:13: maxPods: must be an integer/,
  );
  assert.deepEqual(decodeText(text.replace('"x"', '7')).values, { maxPods: 7 });
});

test('a short text can not grow without limit', () => {
  const levels = Array.from(
    { length: 40 },
    (_, i) => `x${i + 1}: &a${i + 1} {<<: [*a${i}, *a${i}], k${i}: [*a${i}, *a${i}]}`,
  );
  const { problems } = decodeBody(`x0: &a0 {maxPods: 3}\n${levels.join('\n')}\n<<: *a40\n`);
  assert.deepEqual(
    problems.map(({ text }) => text),
    ['the aliases until here stand for more than 100000 values'],
  );
});

test('each value has its position in the files', () => {
  const decoded = decodeLayers(
    'maxPods: 5\nclusterDNS:\n- 10.0.0.1\nevictionHard:\n  memory.available: 1Gi\n',
    'maxPods: 6\nevictionHard:\n  nodefs.available: 1%\n',
    'clusterDNS: []\nport: null\n',
  );
  assert.equal(decoded.originOf('maxPods'), '1.conf:3');
  assert.equal(decoded.originOf('clusterDNS'), '2.conf:3');
  assert.equal(decoded.originOf('evictionHard.memory.available'), '/etc/k.yaml:7');
  assert.equal(decoded.originOf('evictionHard.nodefs.available'), '1.conf:5');
  assert.equal(decoded.originOf('evictionHard.imagefs.available'), '1.conf:5');
  assert.equal(decoded.originOf('port'), '2.conf:4');
  assert.equal(decoded.originOf('logging.verbosity'), undefined);
  const removed = decodeLayers('logging: {verbosity: 3}', 'logging: null', 'logging: {format: json}');
  assert.equal(removed.originOf('logging.verbosity'), '2.conf:3');
  assert.equal(removed.originOf('logging.format'), '2.conf:3');
});

test('drop-ins override the file, in order', () => {
  const decoded = decodeLayers(
    'maxPods: 5\nclusterDNS: [10.0.0.1]\nauthentication: {webhook: {enabled: false}}\nclusterDomain: a\n',
    'maxPods: 6\nauthentication: {anonymous: {enabled: true}}\nsystemReserved: {cpu: 1m, memory: 1Mi}\n',
    'maxPods: 7\nclusterDNS: [10.0.0.2]\nclusterDomain: null\nsystemReserved: {cpu: null}\n',
  );
  assert.deepEqual(decoded.values, {
    maxPods: 7,
    clusterDNS: ['10.0.0.2'],
    authentication: { webhook: { enabled: false }, anonymous: { enabled: true } },
    systemReserved: { memory: '1Mi' },
  });
  assert.equal(completeConfiguration(decoded).authentication.webhook.cacheTTL, 120_000);
});

test('a drop-in needs apiVersion and kind like any file', () => {
  const { problems } = decodeKubeletConfiguration([{ path: '1.conf', text: 'maxPods: 4', kind: 'dropin' }], {
    strict: false,
  });
  assert.deepEqual(
    problems.map(({ path }) => path),
    ['kind', 'apiVersion'],
  );
});

test('drop-ins without a file override the older defaults of the flags', () => {
  const decoded = decodeKubeletConfiguration([{ path: '1.conf', text: `${head}maxPods: 4`, kind: 'dropin' }], {
    strict: false,
  });
  const config = completeConfiguration(decoded);
  assert.equal(config.maxPods, 4);
  assert.equal(config.authorization.mode, 'AlwaysAllow');
  assert.equal(config.readOnlyPort, 10255);
  assert.deepEqual(config.evictionHard, {});
});

const anyTree = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, 0, -1, 1.5, 2 ** 40, '', 'x', '5s', '10Mi', 'KubeletConfiguration'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('enabled', 'webhook', 'key', 'memory')), tie('value'), {
      maxKeys: 3,
    }),
  ),
})).value;
const fieldNames = fc.constantFrom(
  ...Object.keys(kubeletConfiguration.fields),
  'manifestURLHeader',
  'cAdvisorPort',
  'kind',
);

test('no text makes it throw, and every problem has a position', () => {
  const known = fc.dictionary(fieldNames, anyTree, { maxKeys: 5 }).map((body) => {
    const apiVersion = 'kubelet.config.k8s.io/v1beta1';
    return JSON.stringify({ apiVersion, kind: 'KubeletConfiguration', ...body });
  });
  const punctuation = fc.constantFrom(
    'a',
    ':',
    ' ',
    '\n',
    '-',
    '[',
    '{',
    '}',
    ']',
    '&a',
    '*a',
    '<<',
    '!!int',
    '"',
    '\t',
    '#',
    '|',
  );
  const yamlLike = fc.array(punctuation, { maxLength: 30 }).map((list) => head + list.join(''));
  fc.assert(
    fc.property(fc.oneof(fc.string(), yamlLike, known), fc.constantFrom('file', 'dropin'), (text, kind) => {
      const decoded = decodeKubeletConfiguration([{ path: 'k', text, kind }], { strict: false });
      for (const { origin } of [...decoded.problems, ...decoded.warnings]) assert.match(origin, /^k:\d+:\d+$/);
      // Only what the table calls optional may be absent: whoever reads the result trusts its type.
      const config = completeConfiguration(decoded);
      assert.deepEqual(decodeText(JSON.stringify(renderKubeletConfiguration(config))).problems, []);
    }),
    { numRuns: 500 },
  );
});
