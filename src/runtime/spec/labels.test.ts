import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';
import { containerAnnotations, containerLabels, sandboxLabels } from './labels.ts';

const image = 'registry.k8s.io/e2e-test-images/busybox:1.37.0-1';
const pod: Pod = {
  metadata: { name: 'web', namespace: 'shop', uid: 'u', labels: { app: 'x', 'io.kubernetes.pod.name': 'a lie' } },
  spec: { containers: [], terminationGracePeriodSeconds: 30 },
};
const annotations = (container: Partial<Container>, of: Pod = pod) =>
  containerAnnotations({
    pod: of,
    container: { name: 'c', image, ...container },
    attempt: 3,
    extra: { 'io.kubernetes.container.restartCount': '9', dev: 'x' },
  });

test('labels: the identity of a pod can not be claimed by a label', () => {
  const identity = {
    'io.kubernetes.pod.name': 'web',
    'io.kubernetes.pod.namespace': 'shop',
    'io.kubernetes.pod.uid': 'u',
  };
  assert.deepEqual(sandboxLabels(pod), { app: 'x', ...identity });
  assert.deepEqual(containerLabels(pod, { name: 'c' }), { ...identity, 'io.kubernetes.container.name': 'c' });
});

test('annotations: devices may add, not replace', () => {
  assert.deepEqual(annotations({ terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' }), {
    dev: 'x',
    'io.kubernetes.container.hash': 'a6dd0ded',
    'io.kubernetes.container.restartCount': '3',
    'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
    'io.kubernetes.container.terminationMessagePolicy': 'File',
    'io.kubernetes.pod.terminationGracePeriod': '30',
  });
  const deleted: Pod = { ...pod, metadata: { ...pod.metadata, deletionGracePeriodSeconds: 0 } };
  assert.equal(annotations({}, deleted)['io.kubernetes.pod.deletionGracePeriod'], '0');
});

test('ports and hooks as the JSON of the reference, in its order of fields', () => {
  const ports = annotations({
    ports: [
      { protocol: 'TCP', hostIP: '192.0.2.1', containerPort: 80, hostPort: 8080, name: 'http' },
      { containerPort: 53, protocol: 'UDP' },
    ],
  })['io.kubernetes.container.ports'];
  assert.equal(
    ports,
    '[{"name":"http","hostPort":8080,"containerPort":80,"protocol":"TCP","hostIP":"192.0.2.1"},{"containerPort":53,"protocol":"UDP"}]',
  );
  assert.equal(annotations({ ports: [] })['io.kubernetes.container.ports'], undefined);
  const hooks: readonly (readonly [NonNullable<Container['lifecycle']>['preStop'], string])[] = [
    [
      { exec: { command: ['sh', '-c', 'a && b > c'] } },
      '{"exec":{"command":["sh","-c","a \\u0026\\u0026 b \\u003e c"]}}',
    ],
    [{ exec: {} }, '{"exec":{}}'],
    [
      { httpGet: { scheme: 'HTTPS', port: 'web', path: '/x', httpHeaders: [{ value: 'v', name: 'n' }] } },
      '{"httpGet":{"path":"/x","port":"web","scheme":"HTTPS","httpHeaders":[{"name":"n","value":"v"}]}}',
    ],
    [{ tcpSocket: { host: 'h', port: 1 } }, '{"tcpSocket":{"port":1,"host":"h"}}'],
    [{ sleep: { seconds: 0 } }, '{"sleep":{"seconds":0}}'],
  ];
  for (const [preStop, want] of hooks) {
    const container = preStop === undefined ? {} : { lifecycle: { preStop } };
    assert.equal(annotations(container)['io.kubernetes.container.preStopHandler'], want);
  }
});
