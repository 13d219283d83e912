import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  exited,
  makeContainer,
  makePod,
  makeSandbox,
  makeSnapshot,
  NOW,
  observe,
  sidecar,
} from '../../tests/plan/builders.ts';
import { describe } from '../../tests/plan/describe.ts';
import type { Container } from '../api/container.ts';
import { containerId } from '../api/ids.ts';
import type { PodSpec } from '../api/pod.ts';
import type { AnnouncedEnd, ObservedContainer, ObservedSandbox } from '../model/observation.ts';
import type { CrashRecord } from '../model/plan.ts';
import { decide, isLastWord } from './plan-ahead.ts';

const ENDED = NOW - 5;
const end = (exitCode: number, finishedAt = ENDED): AnnouncedEnd => ({ exitCode, finishedAt });
const c: Container = { name: 'c', image: 'i' };
const restartsAll: Container = {
  ...c,
  restartPolicy: 'Never',
  restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [3] } }],
};

interface Case {
  readonly name: string;
  readonly spec?: Partial<PodSpec>;
  readonly containers: readonly ObservedContainer[];
  readonly sandboxes?: readonly ObservedSandbox[];
  readonly announced: Readonly<Record<string, AnnouncedEnd>>;
  readonly crashes?: Readonly<Record<string, CrashRecord>>;
  readonly actions: readonly string[];
}

const cases: readonly Case[] = [
  {
    name: 'what has ended is started again before the runtime says so',
    containers: [makeContainer('c')],
    announced: { 'c-id': end(1) },
    actions: ['start regular c#1'],
  },
  {
    name: 'the next one runs and the runtime still calls the last one running: that is no double',
    containers: [makeContainer('c', { id: containerId('new'), restartCount: 1 }), makeContainer('c')],
    announced: { 'c-id': end(1) },
    actions: [],
  },
  {
    name: 'the next init container starts',
    spec: { initContainers: [{ name: 'i', image: 'i' }] },
    containers: [makeContainer('i')],
    announced: { 'i-id': end(0) },
    actions: ['start regular c#0'],
  },
  {
    name: 'a crash has to wait for its back-off all the same',
    containers: [makeContainer('c', { restartCount: 1 })],
    announced: { 'c-id': end(1) },
    crashes: { c: { waitMs: 10_000, since: NOW - 60_000 } },
    actions: [],
  },
  {
    name: 'a crash that was answered with a start is not counted again',
    containers: [makeContainer('c')],
    announced: { 'c-id': end(1) },
    crashes: { c: { waitMs: 10_000, since: ENDED } },
    actions: ['start regular c#1'],
  },
  {
    name: 'a sidecar is not stopped before the runtime says that the last of the others has ended',
    spec: { restartPolicy: 'Never', initContainers: [sidecar('side')] },
    containers: [makeContainer('c'), makeContainer('side')],
    announced: { 'c-id': end(0) },
    actions: [],
  },
  {
    name: 'a pod is not over before the runtime says so',
    spec: { restartPolicy: 'Never' },
    containers: [makeContainer('c')],
    announced: { 'c-id': end(0) },
    actions: [],
  },
  {
    name: 'nothing is removed before the runtime says that it has ended',
    spec: { containers: [restartsAll] },
    containers: [makeContainer('c')],
    announced: { 'c-id': end(3) },
    actions: [],
  },
  {
    name: 'no sandbox is stopped under a container that the runtime calls running',
    sandboxes: [makeSandbox({ ready: false })],
    containers: [makeContainer('c')],
    announced: { 'c-id': end(0) },
    actions: [],
  },
  {
    name: 'in a process namespace that is shared, others of its processes may still go',
    spec: { shareProcessNamespace: true },
    containers: [makeContainer('c')],
    announced: { 'c-id': end(0) },
    actions: [],
  },
  {
    name: 'so it is with the one of the machine',
    spec: { hostPID: true },
    containers: [makeContainer('c')],
    announced: { 'c-id': end(0) },
    actions: [],
  },
  {
    name: 'one that was killed may have gone with its sandbox',
    containers: [makeContainer('c')],
    announced: { 'c-id': end(137) },
    actions: [],
  },
  {
    name: 'what happens to others is not held up by an end that no one goes by',
    spec: { containers: [c, { name: 'd', image: 'i' }] },
    containers: [makeContainer('c'), makeContainer('d', { id: containerId('d2') }), makeContainer('d')],
    announced: { 'c-id': end(137) },
    actions: ['stop d-id (Stopping container d; Unknown; 30 s)'],
  },
  {
    name: 'what was made and not started is no matter of events',
    containers: [makeContainer('c', { state: 'created' })],
    announced: { 'c-id': end(0) },
    actions: ['remove c-id', 'start regular c#0'],
  },
  {
    name: "the runtime's own word counts where there is one",
    spec: { restartPolicy: 'OnFailure' },
    containers: [exited('c', 1)],
    announced: { 'c-id': end(0) },
    actions: ['start regular c#1'],
  },
];

for (const { name, spec = {}, containers, sandboxes, announced, crashes = {}, actions } of cases) {
  test(name, () => {
    const ids = new Map(Object.entries(announced).map(([id, value]) => [containerId(id), value]));
    const observation = { ...observe(containers, sandboxes), announced: ids };
    const snapshot = makeSnapshot(makePod(spec), observation, { crashes: new Map(Object.entries(crashes)) });
    const { plan } = decide(snapshot);
    assert.deepEqual(plan.actions.map(describe), actions);
    assert.equal(plan.finished, false);
  });
}

test('only what was announced makes a decision run ahead, and it tells what it was made of', () => {
  const quiet = observe([makeContainer('c')]);
  assert.equal(decide(makeSnapshot(makePod(), quiet)).ahead, false);
  const of = (exitCode: number) => ({ ...quiet, announced: new Map([[containerId('c-id'), end(exitCode)]]) });
  assert.equal(decide(makeSnapshot(makePod(), of(137))).ahead, false);
  for (const [exitCode, reason] of [
    [0, 'Completed'],
    [2, 'Error'],
  ] as const) {
    const decision = decide(makeSnapshot(makePod(), of(exitCode)));
    assert.equal(decision.ahead, true);
    const [container] = decision.observation.containers;
    assert.deepEqual(
      [container?.state, container?.exitCode, container?.finishedAt, container?.reason],
      ['exited', exitCode, ENDED, reason],
    );
    assert.deepEqual(decision.plan.crashes.get('c'), { waitMs: 10_000, since: ENDED });
  }
});

const words: readonly [AnnouncedEnd, boolean][] = [
  [end(0), true],
  [end(1), true],
  [end(143), true],
  [end(254), true],
  [end(137), false],
  [end(255), false],
  [end(-1), false],
  [end(4_294_967_295), false],
  [end(0, 0), false],
];
for (const [word, is] of words) {
  test(`exit code ${word.exitCode} at ${word.finishedAt} is ${is ? '' : 'not '}the last word`, () =>
    assert.equal(isLastWord(word), is));
}
