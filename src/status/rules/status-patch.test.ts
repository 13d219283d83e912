import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodCondition, PodStatus } from '../../api/pod-status.ts';
import { planStatusPatch } from './status-patch.ts';

const ready = (status: 'True' | 'False', more: Partial<PodCondition> = {}): PodCondition => ({
  type: 'Ready',
  status,
  lastProbeTime: null,
  lastTransitionTime: '2026-01-01T00:00:00Z',
  ...more,
});
const gate: PodCondition = { type: 'example.com/gate', status: 'True' };
const scheduled: PodCondition = { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
const disrupted: PodCondition = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' };
const container = { name: 'c', state: {}, lastState: {}, ready: false, restartCount: 0, image: 'i', imageID: '' };

interface Case {
  readonly name: string;
  readonly known: PodStatus | undefined;
  readonly wanted: PodStatus;
  readonly patch: object | undefined;
}

const CASES: readonly Case[] = [
  { name: 'nothing known, nothing wanted', known: undefined, wanted: {}, patch: undefined },
  { name: 'the same', known: { phase: 'Running' }, wanted: { phase: 'Running' }, patch: undefined },
  {
    name: 'a time that is null says nothing',
    known: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }] },
    wanted: { conditions: [ready('True')] },
    patch: undefined,
  },
  { name: 'a first word', known: {}, wanted: { phase: 'Pending' }, patch: { phase: 'Pending' } },
  {
    name: 'a reason that is over is taken away',
    known: { phase: 'Failed', reason: 'Evicted', message: 'full' },
    wanted: { phase: 'Failed', reason: 'Evicted' },
    patch: { message: null },
  },
  {
    name: 'what others keep in the status is left alone',
    known: { nominatedNodeName: 'n', resourceClaimStatuses: [{ name: 'x' }], resize: 'Proposed' },
    wanted: {},
    patch: undefined,
  },
  {
    name: 'a condition loses its reason',
    known: { conditions: [ready('False', { reason: 'ContainersNotReady', message: 'm' }), gate] },
    wanted: { conditions: [ready('True', { lastTransitionTime: '2026-01-01T00:00:09Z' })] },
    patch: {
      '$setElementOrder/conditions': [{ type: 'Ready' }],
      conditions: [
        { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:09Z', reason: null, message: null },
      ],
    },
  },
  {
    name: 'conditions of others survive, also when ours are stale copies of them',
    known: { conditions: [gate, scheduled] },
    wanted: { conditions: [{ ...gate, status: 'False' }, scheduled] },
    patch: undefined,
  },
  {
    name: 'own conditions that are said no more go',
    known: { phase: 'Pending', conditions: [scheduled, gate] },
    wanted: { phase: 'Failed' },
    patch: { phase: 'Failed', conditions: [{ $patch: 'delete', type: 'PodScheduled' }] },
  },
  {
    name: 'a disruption by the kubelet is said',
    known: { conditions: [scheduled] },
    wanted: { conditions: [disrupted, scheduled] },
    patch: {
      '$setElementOrder/conditions': [{ type: 'DisruptionTarget' }, { type: 'PodScheduled' }],
      conditions: [disrupted],
    },
  },
  {
    name: 'a disruption that another client set stays as it is',
    known: { conditions: [{ ...disrupted, reason: 'EvictionByEvictionAPI' }, scheduled] },
    wanted: { conditions: [disrupted, scheduled] },
    patch: undefined,
  },
  {
    name: 'addresses are replaced, not joined',
    known: { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] },
    wanted: { podIP: '10.0.0.2', podIPs: [{ ip: '10.0.0.2' }] },
    patch: { podIP: '10.0.0.2', podIPs: [{ ip: '10.0.0.2' }, { $patch: 'replace' }] },
  },
  {
    name: 'addresses that are lost are taken away',
    known: { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] },
    wanted: {},
    patch: { podIP: null, podIPs: [{ $patch: 'replace' }] },
  },
  {
    name: 'the statuses of containers are one value',
    known: { containerStatuses: [container, { ...container, name: 'd' }] },
    wanted: {
      containerStatuses: [
        { ...container, ready: true },
        { ...container, name: 'd' },
      ],
    },
    patch: {
      containerStatuses: [
        { ...container, ready: true },
        { ...container, name: 'd' },
      ],
    },
  },
  {
    name: 'resources are merged field by field',
    known: { resources: { requests: { cpu: '1', memory: '1Mi' }, limits: { cpu: '2' } } },
    wanted: { resources: { requests: { cpu: '2' }, limits: { cpu: '2' } } },
    patch: { resources: { requests: { cpu: '2', memory: null } } },
  },
];

describe('the patch of a status', () => {
  for (const { name, known, wanted, patch } of CASES) {
    test(name, () => assert.deepEqual(planStatusPatch(known, wanted), patch));
  }
});
