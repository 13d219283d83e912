import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceRequirements } from './container.ts';
import type { Pod, PodSpec } from './pod.ts';
import type { QosClass } from './pod-status.ts';
import { qosClassOf } from './qos-class.ts';

const podOf = (spec: Partial<PodSpec>, qosClass?: QosClass): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [], ...spec },
  ...(qosClass === undefined ? {} : { status: { phase: 'Pending', qosClass } }),
});
const containers = (...resources: readonly ResourceRequirements[]) =>
  resources.map((own, index) => ({ name: `c${index}`, resources: own }));
const full = (cpu: string, memory: string): ResourceRequirements => ({
  requests: { cpu, memory },
  limits: { cpu, memory },
});

test('the class follows from requests and limits of CPU and memory', () => {
  const cases: readonly (readonly [string, Partial<PodSpec>, QosClass])[] = [
    ['nothing asked for', { containers: containers({}) }, 'BestEffort'],
    ['only zeros', { containers: containers({ requests: { cpu: '0', memory: '0' } }) }, 'BestEffort'],
    ['only another resource', { containers: containers({ limits: { 'example.com/gpu': '1' } }) }, 'BestEffort'],
    ['limits equal requests', { containers: containers(full('1', '1Gi')) }, 'Guaranteed'],
    [
      'equal in other words',
      { containers: containers({ requests: { cpu: '1000m', memory: '1024Mi' }, limits: { cpu: '1', memory: '1Gi' } }) },
      'Guaranteed',
    ],
    ['a request without limits', { containers: containers({ requests: { cpu: '1m' } }) }, 'Burstable'],
    [
      'limits above requests',
      { containers: containers({ requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '1Gi' } }) },
      'Burstable',
    ],
    [
      'memory without a limit',
      { containers: containers({ requests: { cpu: '1' }, limits: { cpu: '1' } }) },
      'Burstable',
    ],
    ['limits only', { containers: containers({ limits: { cpu: '1', memory: '1Gi' } }) }, 'Burstable'],
    ['one container without any', { containers: containers(full('1', '1Gi'), {}) }, 'Burstable'],
    [
      'an init container without any',
      { containers: containers(full('1', '1Gi')), initContainers: containers({}) },
      'Burstable',
    ],
    [
      'init containers count too',
      { containers: containers(full('1', '1Gi')), initContainers: containers(full('2', '1Mi')) },
      'Guaranteed',
    ],
    [
      'what is over in one is missing in the other',
      {
        containers: containers(
          { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '1Gi' } },
          { requests: { cpu: '2', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } },
        ),
      },
      'Guaranteed',
    ],
    [
      'pod-level resources come first',
      { containers: containers({ requests: { cpu: '1' } }), resources: full('1', '1Gi') },
      'Guaranteed',
    ],
    [
      'pod-level requests only',
      { containers: containers(full('1', '1Gi')), resources: { requests: { cpu: '1' } } },
      'Burstable',
    ],
    [
      'pod-level limit of one resource',
      { containers: containers({}), resources: { requests: { cpu: '1' }, limits: { cpu: '1' } } },
      'Burstable',
    ],
  ];
  for (const [name, spec, expected] of cases) assert.equal(qosClassOf(podOf(spec), { podLevel: true }), expected, name);
});

test('without the gate a pod-level list does not count', () => {
  const pod = podOf({ containers: containers({ requests: { cpu: '1' } }), resources: full('1', '1Gi') });
  assert.equal(qosClassOf(pod, { podLevel: false }), 'Burstable');
});

test('the class that was written down stays', () => {
  assert.equal(qosClassOf(podOf({ containers: containers({}) }, 'Guaranteed'), { podLevel: true }), 'Guaranteed');
});
