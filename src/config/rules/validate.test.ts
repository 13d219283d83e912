import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { judge } from '../judge-testing.ts';

test('the defaults have no findings', () => {
  assert.deepEqual(judge({}), { problems: [], warnings: [] });
});

test('every problem is reported in one run, with its field, value and rule', () => {
  const { problems, warnings } = judge({
    maxPods: -1,
    hairpinMode: 'moon',
    tlsMinVersion: 'VersionTLS99',
    evictionHard: { 'moon.available': '10%' },
    shutdownGracePeriod: 500,
    cgroupDriver: 'moon',
    logging: { format: 'xml' },
    registerWithTaints: [{ key: 'a b', value: '', effect: 'NoSchedule' }],
  });
  assert.deepEqual(
    problems.map(({ path, value }) => [path, value]),
    [
      ['maxPods', -1],
      ['hairpinMode', 'moon'],
      ['tlsMinVersion', 'VersionTLS99'],
      ['registerWithTaints[0].key', 'a b'],
      ['logging.format', 'xml'],
      ['evictionHard.moon.available', '10%'],
      ['shutdownGracePeriod', '500ms'],
    ],
  );
  assert.ok(problems.every(({ rule }) => rule.length > 0));
  assert.deepEqual(
    warnings.map(({ path, value }) => [path, value]),
    [['cgroupDriver', 'moon']],
  );
});

test('a property name of every object is not a valid threshold', () => {
  const names = ['__proto__', 'constructor', 'toString'];
  for (const name of names) {
    const { problems } = judge({ evictionSoft: JSON.parse(`{"${name}": "1Mi"}`) });
    assert.ok(
      problems.some(({ path }) => path === `evictionSoft.${name}`),
      name,
    );
  }
});

test('no text makes validation throw', () => {
  const texts = fc.dictionary(fc.string(), fc.string(), { maxKeys: 4 });
  const config = fc.record({
    evictionHard: texts,
    evictionSoft: texts,
    evictionSoftGracePeriod: texts,
    evictionMinimumReclaim: texts,
    kubeReserved: texts,
    systemReserved: texts,
    qosReserved: texts,
    cpuManagerPolicyOptions: texts,
    topologyManagerPolicyOptions: texts,
    cpuManagerPolicy: fc.constantFrom('none', 'static'),
    memoryManagerPolicy: fc.constantFrom('None', 'Static'),
    topologyManagerPolicy: fc.constantFrom('none', 'best-effort'),
    reservedMemory: fc.array(fc.record({ numaNode: fc.integer(), limits: texts }), { maxLength: 3 }),
    reservedSystemCPUs: fc.string(),
    containerLogMaxSize: fc.string(),
    podLogsDir: fc.string(),
    address: fc.string(),
    podCIDR: fc.string(),
    staticPodURL: fc.string(),
    containerRuntimeEndpoint: fc.string(),
    preloadedImagesVerificationAllowlist: fc.array(fc.string()),
    allowedUnsafeSysctls: fc.array(fc.string()),
    tlsCipherSuites: fc.array(fc.string()),
    tracing: fc.record({ endpoint: fc.string() }),
  });
  fc.assert(
    fc.property(config, (values) => {
      const { problems, warnings } = judge(values);
      for (const { path, rule } of [...problems, ...warnings]) assert.ok(path !== '' && rule !== '');
    }),
  );
});
