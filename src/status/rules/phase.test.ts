import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exited, makeContainer, makePod, makeSandbox, observe, sidecar } from '../../../tests/plan/builders.ts';
import { conditionText, statusInput } from '../../../tests/plan/status-builders.ts';
import type { Container } from '../../api/container.ts';
import type { PodSpec } from '../../api/pod.ts';
import type { PodPhase } from '../../api/pod-status.ts';
import type { ObservedContainer } from '../../model/observation.ts';
import type { PodStep } from '../../model/pod-view.ts';
import { computePodStatus } from './compute-status.ts';
import type { StatusInput } from './status-input.ts';

interface Case {
  readonly name: string;
  readonly spec?: Partial<PodSpec>;
  readonly containers?: readonly ObservedContainer[];
  readonly step?: PodStep;
  readonly static?: boolean;
  readonly more?: Partial<StatusInput>;
  readonly phase: PodPhase;
}

const c = (name: string, more: Partial<Container> = {}): Container => ({ name, image: 'i', ...more });
const two = { containers: [c('c'), c('d')] };
const inits = { initContainers: [c('i')] };
const sided = { initContainers: [sidecar('s')] };
const stopped = makeSandbox({ ready: false });
const held = new Map([['c', { reason: 'CrashLoopBackOff', message: 'm' }]]);
const rule = (restartPolicy: 'Never' | 'OnFailure', value: number) =>
  c('c', {
    restartPolicy,
    restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [value] } }],
  });

const cases: readonly Case[] = [
  { name: 'nothing is there', phase: 'Pending' },
  { name: 'one of two runs', spec: two, containers: [makeContainer('c')], phase: 'Pending' },
  { name: 'both run', spec: two, containers: [makeContainer('c'), makeContainer('d')], phase: 'Running' },
  {
    name: 'one runs, one has ended',
    spec: { ...two, restartPolicy: 'Never' },
    containers: [makeContainer('c'), exited('d', 1)],
    phase: 'Running',
  },
  { name: 'created is not running', containers: [makeContainer('c', { state: 'created' })], phase: 'Pending' },
  { name: 'all succeeded, Never', spec: { restartPolicy: 'Never' }, containers: [exited('c', 0)], phase: 'Succeeded' },
  {
    name: 'all succeeded, OnFailure',
    spec: { restartPolicy: 'OnFailure' },
    containers: [exited('c', 0)],
    phase: 'Succeeded',
  },
  {
    name: 'stopped to start with a new image, Never',
    spec: { restartPolicy: 'Never' },
    containers: [exited('c', 0)],
    more: { starting: new Set(['c']) },
    phase: 'Running',
  },
  { name: 'all succeeded, Always', containers: [exited('c', 0)], phase: 'Running' },
  {
    name: 'one failed, Never',
    spec: { ...two, restartPolicy: 'Never' },
    containers: [exited('c', 0), exited('d', 2)],
    phase: 'Failed',
  },
  {
    name: 'one failed, OnFailure',
    spec: { ...two, restartPolicy: 'OnFailure' },
    containers: [exited('c', 0), exited('d', 2)],
    phase: 'Running',
  },
  { name: 'a crash loop is a running pod', containers: [exited('c', 1)], more: { waiting: held }, phase: 'Running' },
  { name: 'a container that can’t be made is not', more: { waiting: held }, phase: 'Pending' },
  {
    name: 'a rule that restarts',
    spec: { restartPolicy: 'Never', containers: [rule('Never', 3)] },
    containers: [exited('c', 3)],
    phase: 'Running',
  },
  {
    name: 'a rule that does not',
    spec: { restartPolicy: 'Always', containers: [rule('Never', 3)] },
    containers: [exited('c', 4)],
    phase: 'Failed',
  },
  {
    name: 'an own policy',
    spec: { restartPolicy: 'Never', containers: [rule('OnFailure', 9)] },
    containers: [exited('c', 4)],
    phase: 'Running',
  },
  { name: 'init runs', spec: inits, containers: [makeContainer('i')], phase: 'Pending' },
  { name: 'init succeeded', spec: inits, containers: [exited('i', 0)], phase: 'Pending' },
  { name: 'init failed, Always', spec: inits, containers: [exited('i', 1)], phase: 'Pending' },
  {
    name: 'init failed, Never',
    spec: { ...inits, restartPolicy: 'Never' },
    containers: [exited('i', 1)],
    phase: 'Failed',
  },
  { name: 'init done, regular runs', spec: inits, containers: [makeContainer('c'), exited('i', 0)], phase: 'Running' },
  { name: 'init forgotten, regular runs', spec: inits, containers: [makeContainer('c')], phase: 'Running' },
  {
    name: 'sidecar comes up',
    spec: { initContainers: [sidecar('s', { startupProbe: {} })] },
    containers: [makeContainer('s')],
    phase: 'Pending',
  },
  { name: 'sidecar is up, regular to come', spec: sided, containers: [makeContainer('s')], phase: 'Pending' },
  {
    name: 'sidecar and regular run',
    spec: sided,
    containers: [makeContainer('c'), makeContainer('s')],
    phase: 'Running',
  },
  {
    name: 'sidecar comes up again beside a regular one',
    spec: { initContainers: [sidecar('s', { startupProbe: {} })] },
    containers: [makeContainer('c'), makeContainer('s', { restartCount: 1 })],
    phase: 'Running',
  },
  {
    name: 'sidecar crashed beside a regular one',
    spec: sided,
    containers: [makeContainer('c'), exited('s', 1)],
    phase: 'Running',
  },
  {
    name: 'regular is done, sidecar still runs',
    spec: { ...sided, restartPolicy: 'Never' },
    containers: [exited('c', 0), makeContainer('s')],
    phase: 'Running',
  },
  {
    name: 'regular is done, sidecar failed when stopped',
    spec: { ...sided, restartPolicy: 'Never' },
    containers: [exited('c', 0), exited('s', 137)],
    phase: 'Succeeded',
  },
  { name: 'ended from outside, well', containers: [exited('c', 0)], step: 'terminating', phase: 'Succeeded' },
  { name: 'ended from outside, badly', containers: [exited('c', 143)], step: 'terminating', phase: 'Failed' },
  {
    name: 'a static pod has no end',
    containers: [exited('c', 143)],
    step: 'terminating',
    static: true,
    phase: 'Running',
  },
  { name: 'nothing is left to look at', step: 'terminated', phase: 'Failed' },
  {
    name: 'evicted while it runs',
    containers: [makeContainer('c')],
    step: 'terminating',
    more: { ended: { phase: 'Failed', reason: 'Evicted', message: 'm' } },
    phase: 'Failed',
  },
  {
    name: 'deleted while it runs',
    containers: [makeContainer('c')],
    step: 'terminating',
    more: { ended: { reason: 'Deleted', message: '' } },
    phase: 'Running',
  },
  {
    name: 'once ended, always ended',
    containers: [makeContainer('c')],
    more: { previous: { phase: 'Succeeded' } },
    phase: 'Succeeded',
  },
];

for (const { name, spec, containers = [], step = 'syncing', static: isStatic, more, phase } of cases) {
  test(`${name}: ${phase}`, () => {
    const annotations = isStatic === true ? { 'kubernetes.io/config.source': 'file' } : {};
    const sandboxes =
      step === 'syncing' || containers.some(({ state }) => state === 'running') ? [makeSandbox()] : [stopped];
    const pod = makePod(spec, { annotations });
    const status = computePodStatus(statusInput(pod, { step, observation: observe(containers, sandboxes), ...more }));
    assert.equal(status.phase, phase);
    if (step !== 'terminated' && (phase === 'Succeeded' || phase === 'Failed')) {
      assert.equal(conditionText(status, 'Ready'), phase === 'Failed' ? 'False | PodFailed' : 'False | PodCompleted');
    }
  });
}
