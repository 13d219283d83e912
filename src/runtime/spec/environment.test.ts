import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, EnvVar } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';
import { readEnvFile } from './env-file.ts';
import {
  type EnvironmentInput,
  type EnvValue,
  environmentObjects,
  expandAll,
  makeEnvironment,
  type ObjectData,
} from './environment.ts';

const pod = (container: Container, annotations: Record<string, string> = {}): Pod => ({
  metadata: { name: 'web', namespace: 'shop', uid: 'u', annotations },
  spec: { containers: [container], enableServiceLinks: true },
});
const found = (data: Record<string, EnvValue>): ObjectData => ({ kind: 'found', data: new Map(Object.entries(data)) });
const lookup =
  (kind: string, known: Record<string, ObjectData>) =>
  (name: string): ObjectData =>
    known[name] ?? { kind: 'missing', message: `${kind} "${name}" not found` };
const down: ObjectData = { kind: 'failed', message: 'the API server does not answer' };

function input(container: Container, more: Partial<EnvironmentInput> = {}): EnvironmentInput {
  return {
    pod: pod(container),
    container,
    podIps: ['10.0.0.7'],
    hostIps: ['192.0.2.1'],
    nodeAllocatable: { cpu: '2' },
    services: [{ name: 'db', namespace: 'shop', clusterIp: '10.0.0.9', ports: [{ port: 5432 }] }],
    configMap: lookup('configmap', { conf: found({ A: 'from conf', color: 'blue' }), down }),
    secret: lookup('secret', { pass: found({ A: 'from pass', raw: new Uint8Array([0xff, 0x01]) }), down }),
    envFile: (volume, path) =>
      volume === 'files'
        ? { kind: 'read', path: `/host/${path}`, values: readEnvFile("K='v'\nEMPTY=''\n") }
        : { kind: 'no-volume' },
    extra: [],
    gates: () => true,
    ...more,
  };
}

/** Without those of services, unless they are asked for. */
function environment(
  container: Partial<Container>,
  more: Partial<EnvironmentInput> = {},
): Record<string, EnvValue> | string {
  const made = makeEnvironment(input({ name: 'c', ...container }, { services: [], ...more }));
  if (made.kind === 'problem') return `! ${made.message}`;
  return Object.fromEntries(made.env.map(({ name, value }) => [name, value]));
}

test('variables see those before them, envFrom and services, and win over both', () => {
  const container: Container = {
    name: 'c',
    envFrom: [{ configMapRef: { name: 'conf' } }, { prefix: 'S_', secretRef: { name: 'pass' } }],
    env: [
      { name: 'B', value: '$(A)+$(S_A)+$(DB_SERVICE_HOST)+$(C)' },
      { name: 'C', value: 'late' },
      { name: 'A', value: 'own' },
      { name: 'DB_SERVICE_PORT', value: '1' },
    ],
  };
  const made = makeEnvironment(input(container));
  assert.ok(made.kind === 'ready');
  assert.deepEqual(made.env.slice(0, 7), [
    { name: 'A', value: 'own' },
    { name: 'color', value: 'blue' },
    { name: 'S_A', value: 'from pass' },
    { name: 'S_raw', value: new Uint8Array([0xff, 0x01]) },
    { name: 'B', value: 'from conf+from pass+10.0.0.9+$(C)' },
    { name: 'C', value: 'late' },
    { name: 'DB_SERVICE_PORT', value: '1' },
  ]);
  assert.equal(made.env.filter(({ name }) => name === 'DB_SERVICE_PORT').length, 1);
  assert.equal(made.env.find(({ name }) => name === 'DB_SERVICE_HOST')?.value, '10.0.0.9');
});

test('where a value comes from', () => {
  const cases: readonly { from: NonNullable<EnvVar['valueFrom']>; want: EnvValue | undefined }[] = [
    { from: { fieldRef: { fieldPath: 'status.podIP' } }, want: '10.0.0.7' },
    { from: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } }, want: 'web' },
    { from: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } }, want: '2000' },
    { from: { configMapKeyRef: { name: 'conf', key: 'color' } }, want: 'blue' },
    { from: { configMapKeyRef: { name: 'conf', key: 'none', optional: true } }, want: undefined },
    { from: { configMapKeyRef: { name: 'none', key: 'x', optional: true } }, want: undefined },
    { from: { secretKeyRef: { name: 'pass', key: 'raw' } }, want: new Uint8Array([0xff, 0x01]) },
    { from: { secretKeyRef: { name: 'none', key: 'x', optional: true } }, want: undefined },
    { from: { fileKeyRef: { volumeName: 'files', path: 'f.env', key: 'K' } }, want: 'v' },
    { from: { fileKeyRef: { volumeName: 'files', path: 'f.env', key: 'EMPTY', optional: true } }, want: undefined },
    { from: {}, want: '' },
  ];
  for (const { from, want } of cases) {
    const made = environment({ env: [{ name: 'X', valueFrom: from }] });
    assert.deepEqual(made, want === undefined ? {} : { X: want }, JSON.stringify(from));
  }
  assert.deepEqual(environment({ env: [{ name: 'X' }, { name: 'Y', value: '' }] }), { X: '', Y: '' });
});

test('what is missing, in the words of the reference', () => {
  const cases: readonly { container: Partial<Container>; want: string }[] = [
    { container: { envFrom: [{ configMapRef: { name: 'none' } }] }, want: 'configmap "none" not found' },
    { container: { envFrom: [{ secretRef: { name: 'none' } }] }, want: 'secret "none" not found' },
    {
      container: { envFrom: [{ secretRef: { name: 'down', optional: true } }] },
      want: 'the API server does not answer',
    },
    {
      container: { env: [{ name: 'X', valueFrom: { secretKeyRef: { name: 'none', key: 'k' } } }] },
      want: 'secret "none" not found',
    },
    {
      container: { env: [{ name: 'X', valueFrom: { configMapKeyRef: { name: 'down', key: 'k', optional: true } } }] },
      want: 'the API server does not answer',
    },
    {
      container: { env: [{ name: 'X', valueFrom: { configMapKeyRef: { name: 'conf', key: 'k' } } }] },
      want: "couldn't find key k in ConfigMap shop/conf",
    },
    {
      container: { env: [{ name: 'X', valueFrom: { secretKeyRef: { name: 'pass', key: 'k' } } }] },
      want: "couldn't find key k in Secret shop/pass",
    },
    {
      container: { env: [{ name: 'X', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } }] },
      want: 'unsupported fieldPath: spec.x',
    },
    {
      container: { env: [{ name: 'X', valueFrom: { fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.name' } } }] },
      want: 'unsupported pod version: v2',
    },
    {
      container: { env: [{ name: 'X', valueFrom: { resourceFieldRef: { resource: 'x' } } }] },
      want: 'unsupported container resource : x',
    },
    {
      container: { env: [{ name: 'X', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'f', key: 'k' } } }] },
      want: 'cannot find the volume "v" referenced by FileKeyRef',
    },
    {
      container: { env: [{ name: 'X', valueFrom: { fileKeyRef: { volumeName: 'files', path: 'f', key: 'k' } } }] },
      want: 'environment variable key "k" not found in file "/host/f"',
    },
  ];
  for (const { container, want } of cases) assert.equal(environment(container), `! ${want}`);
});

test('a file that can not be read or understood, and the gate', () => {
  const env = [{ name: 'X', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'f', key: 'k' } } }];
  const unreadable = environment({ env }, { envFile: () => ({ kind: 'failed', message: 'no such file' }) });
  assert.equal(unreadable, "! couldn't parse env file: no such file");
  const broken = environment({ env }, { envFile: () => ({ kind: 'read', path: '/f', values: readEnvFile('k') }) });
  assert.match(String(broken), /^! couldn't parse env file: .* line 1/);
  assert.deepEqual(environment({ env }, { gates: (gate) => gate !== 'EnvFiles' }), { X: '' });
});

test('services that were not read yet hold up pods of the API server only', () => {
  const container: Container = { name: 'c' };
  const waiting = makeEnvironment(input(container, { services: undefined }));
  assert.deepEqual(waiting, {
    kind: 'problem',
    reason: 'CreateContainerConfigError',
    message: 'services have not yet been read at least once, cannot construct envvars',
  });
  const fromFile = pod(container, { 'kubernetes.io/config.source': 'file' });
  assert.deepEqual(makeEnvironment(input(container, { services: undefined, pod: fromFile })), {
    kind: 'ready',
    env: [],
  });
});

test('commands see the last value of a variable; devices come first', () => {
  const made = makeEnvironment(
    input({ name: 'c', env: [{ name: 'A', value: 'own' }] }, { services: [], extra: [{ name: 'A', value: 'device' }] }),
  );
  assert.ok(made.kind === 'ready');
  assert.deepEqual(made.env, [
    { name: 'A', value: 'device' },
    { name: 'A', value: 'own' },
  ]);
  const words = (...parameters: Parameters<typeof expandAll>) => {
    const expanded = expandAll(...parameters);
    return expanded.ok ? expanded.value : expanded.problem;
  };
  assert.deepEqual(words(['$(A)', '$(B)'], made.env), ['own', '$(B)']);
  assert.deepEqual(words(['$(R)'], [{ name: 'R', value: new TextEncoder().encode('bytes') }]), ['bytes']);
  assert.deepEqual(words(undefined, []), []);
});

const doubling = (count: number): EnvVar[] =>
  Array.from({ length: count }, (_, n) => ({ name: `V${n}`, value: n === 0 ? 'ab' : `$(V${n - 1})$(V${n - 1})` }));
const long = (length: number) => 'x'.repeat(length);

test('what Linux can not execute is refused before it is made', () => {
  // V16 would be 2 ** 17 bytes.
  assert.match(String(environment({ env: doubling(30) })), /^! environment variable "V16" is longer than 131072 bytes/);
  const fits = environment({ env: doubling(16) });
  assert.equal(typeof fits === 'object' && String(fits['V15']).length, 2 ** 16);
  // NAME=value and a zero byte.
  assert.equal(typeof environment({ env: [{ name: 'A', value: long(131_072 - 3) }] }), 'object');
  assert.match(String(environment({ env: [{ name: 'A', value: long(131_072 - 2) }] })), /variable "A" is longer/);
  assert.match(String(environment({ env: [{ name: 'A', value: 'ü'.repeat(65_536) }] })), /variable "A" is longer/);
  const many = Array.from({ length: 40 }, (_, n) => ({ name: `V${n}`, value: long(60_000) }));
  assert.match(String(environment({ env: many })), /^! the environment is larger than 2097152 bytes/);
  const same = many.map((variable) => ({ ...variable, name: 'V' }));
  assert.match(String(environment({ env: same })), /^! the environment is larger/);
  const conf = () => found({ big: new Uint8Array(131_073) });
  assert.match(
    String(environment({ envFrom: [{ configMapRef: { name: 'x' } }] }, { configMap: conf })),
    /variable "big" is longer/,
  );
});

test('the words of a command are bounded, one by one and with the environment', () => {
  const env = [{ name: 'A', value: long(1000) }];
  const problem = (words: readonly string[], entries = env) => {
    const expanded = expandAll(words, entries);
    return expanded.ok ? '' : expanded.problem;
  };
  assert.equal(problem(['$(A)'.repeat(131)]), '');
  assert.match(problem(['$(A)'.repeat(132)]), /^an argument is longer than 131071 bytes/);
  assert.match(
    problem(Array.from({ length: 20 }, () => '$(A)'.repeat(131))),
    /^the command with its environment is larger/,
  );
});

test('which objects must be read before', () => {
  const container: Container = {
    name: 'c',
    envFrom: [{ configMapRef: { name: 'a' } }, { secretRef: { name: 's' } }],
    env: [
      { name: 'X', valueFrom: { configMapKeyRef: { name: 'b', key: 'k' } } },
      { name: 'Y', valueFrom: { configMapKeyRef: { name: 'a', key: 'k' } } },
      { name: 'Z', valueFrom: { secretKeyRef: { name: 't', key: 'k' } } },
      { name: 'V', value: 'v' },
    ],
  };
  assert.deepEqual(environmentObjects(container), { configMaps: ['a', 'b'], secrets: ['s', 't'] });
  assert.deepEqual(environmentObjects({ name: 'c' }), { configMaps: [], secrets: [] });
});
