/** Why a pod does not start, as its view says it, under our kubelet on a real node: each in a way of its own, all at once. */
import assert from 'node:assert/strict';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ExplainedStep, PodExplanation } from '../../src/model/explanation.ts';
import { type PodNode, podNode, runs, stays, until } from './pod-support.ts';

const quick = { terminationGracePeriodSeconds: 1 };
const WITHIN_MS = 120_000;

interface Case {
  readonly name: string;
  readonly spec: object;
  /** The step that the pod waits for. */
  readonly kind: ExplainedStep['subject']['kind'];
  readonly state: ExplainedStep['state']['kind'];
  readonly actor: string;
  readonly waitsFor?: string;
  readonly error?: RegExp;
  readonly retries?: boolean;
}

const CASES: readonly Case[] = [
  {
    name: 'registry',
    spec: { containers: [{ ...stays('c'), image: 'localhost:5999/none:1' }] },
    ...{ kind: 'image', state: 'waiting', actor: 'registry', waitsFor: 'retry' },
    error: /^(ErrImagePull|ImagePullBackOff): .*5999/,
    retries: true,
  },
  {
    name: 'never',
    spec: { containers: [{ ...stays('c'), image: 'localhost:5999/none:1', imagePullPolicy: 'Never' }] },
    ...{ kind: 'image', state: 'waiting', actor: 'user', waitsFor: 'retry', error: /^ErrImageNeverPull: / },
    retries: true,
  },
  {
    name: 'hook',
    spec: { containers: [stays('c', { lifecycle: { postStart: { exec: { command: ['sleep', '1000'] } } } })] },
    ...{ kind: 'hook', state: 'under-way', actor: 'container' },
  },
  {
    name: 'crashes',
    spec: { containers: [runs('c', 'exit 3')] },
    ...{ kind: 'container', state: 'waiting', actor: 'user', waitsFor: 'back-off', error: /^Error: / },
    retries: true,
  },
  {
    name: 'init',
    spec: { initContainers: [stays('i')], containers: [stays('c')] },
    ...{ kind: 'container', state: 'waiting', actor: 'container', waitsFor: 'container' },
  },
  {
    name: 'command',
    spec: { containers: [{ ...stays('c'), command: ['/no/such/program'] }] },
    ...{ kind: 'container', state: 'waiting', actor: 'user', waitsFor: 'back-off', error: /./, retries: true },
  },
  {
    name: 'refused',
    spec: { containers: [stays('c', { resources: { requests: { cpu: '1000' } } })] },
    ...{ kind: 'admission', state: 'refused', actor: 'node', error: /^UnexpectedAdmissionError: .*cpu/ },
  },
  {
    name: 'volume',
    spec: {
      containers: [stays('c', { volumeMounts: [{ name: 'v', mountPath: '/v' }] })],
      volumes: [{ name: 'v', hostPath: { path: '/no/such/directory', type: 'Directory' } }],
    },
    ...{ kind: 'volume', state: 'waiting', actor: 'node', waitsFor: 'retry' },
    error: /^FailedMount: .*\/no\/such\/directory/,
    retries: true,
  },
];

/** The newest that the kubelet logged. */
async function explanationOf({ node }: PodNode, pod: string): Promise<PodExplanation | undefined> {
  // What comes after the last end of a line may be half a line.
  const lines = (await readFile(node.kubelet.logFile, 'utf8')).split('\n').slice(0, -1);
  const about = `"default/${pod}-${node.nodeName}"`;
  const last = lines.findLast((line) => line.includes('"Explanation of pod"') && line.includes(about));
  return last === undefined ? undefined : JSON.parse(last).explanation;
}

async function untilExplained(place: PodNode, expected: Case): Promise<ExplainedStep> {
  const { name, kind, state, actor, waitsFor, error, retries } = expected;
  let last: PodExplanation | undefined;
  const matches = (step: ExplainedStep) =>
    step.subject.kind === kind &&
    step.state.kind === state &&
    'actor' in step.state &&
    step.state.actor === actor &&
    // The time of the next try is known a moment after the failure.
    (retries !== true || step.retryAt !== undefined) &&
    (waitsFor === undefined || ('for' in step.state && step.state.for.kind === waitsFor)) &&
    (error === undefined || error.test(`${step.lastError?.reason}: ${step.lastError?.message}`));
  return await until(
    `the explanation of ${name}`,
    async () => {
      last = await explanationOf(place, name);
      return last?.steps.find(matches);
    },
    WITHIN_MS,
  ).catch((problem) => assert.fail(`${problem}\n${JSON.stringify(last, undefined, 1)}`));
}

test('each pod that does not start says why', async (t) => {
  const place = await podNode(t, { flags: ['-v=4'], config: { logging: { format: 'json' } } });
  const files: string[] = [];
  for (const { name, spec } of CASES) files.push(await place.write(name, { ...quick, ...spec }));
  for (const expected of CASES) {
    await t.test(expected.name, async () => {
      const { state, failures, retryAt, lastError, reason } = await untilExplained(place, expected);
      assert.ok(state.since > Date.now() - 10 * WITHIN_MS && state.since <= Date.now(), `since ${state.since}`);
      assert.notEqual(reason, '');
      if (expected.error !== undefined) assert.ok(failures > 0 && lastError !== undefined && lastError.at > 0);
      if (expected.retries === true) assert.ok(retryAt !== undefined && retryAt > state.since, 'it is tried again');
    });
  }
  await t.test('a network plugin that is broken', () => brokenNetwork(place));
  for (const file of files) await rm(file);
  await Promise.all(CASES.map(({ name }) => place.gone(name)));
});

async function brokenNetwork(place: PodNode): Promise<void> {
  const { node } = place;
  const config = join(node.world.directory, 'containerd/cni/10-pods.conflist');
  await rename(config, `${config}.away`);
  const file = await place.write('network', { ...quick, containers: [stays('c')] });
  const { state } = await untilExplained(place, {
    name: 'network',
    spec: {},
    ...{ kind: 'sandbox-create', state: 'waiting', actor: 'runtime', waitsFor: 'retry', error: /cni/i },
  });
  assert.ok(state.since > 0);
  await rename(`${config}.away`, config);
  await place.running('network', 'c');
  await rm(file);
  await place.gone('network');
}
