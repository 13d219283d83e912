/** Pods that are resized in a real cluster: as the reference resized them when that was recorded, but for what is named here. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { type Lived, type LivedStep, liveResizes } from '../recorded/resize/live.ts';
import { SCENARIOS } from '../recorded/resize/scenarios.ts';

const file = join(import.meta.dirname, '../recorded/resize/resizes.json');
const recorded = JSON.parse(readFileSync(file, 'utf8')) as Lived;

/** Cgroups that are not as the reference leaves them. */
const OTHER_CGROUPS: Readonly<Record<string, string>> = {
  'pod-level two': 'it takes the shares of a container without a request away; ours keeps those that it started with',
  'not-started pod in /kubepods': 'ours gives the pod room when the container starts',
};

test('resizes as recorded', { skip: whyClusterIsSkipped(process.env) }, async (t) => {
  // As it would be after it was written down: what is undefined is not there.
  const lived = JSON.parse(JSON.stringify(await liveResizes(SCENARIOS, { test: t }))) as Lived;
  for (const { name, steps } of recorded.scenarios) {
    const own = lived.scenarios.find((one) => one.name === name);
    await t.test(name, () =>
      steps.forEach((step, at) => {
        const mine = own?.steps[at];
        assert.ok(mine !== undefined);
        compare(name, step, mine);
      }),
    );
  }
  await t.test('metrics', () => {
    const counts = (lines: readonly string[]) => lines.filter((line) => !line.includes('_duration_')).sort();
    assert.deepEqual(counts(lived.metrics), counts(recorded.metrics));
  });
});

function compare(name: string, theirs: LivedStep, ours: LivedStep): void {
  const differs = (group: string) => OTHER_CGROUPS[`${name} ${group}`] !== undefined;
  const comparable = (step: LivedStep) =>
    Object.fromEntries(Object.entries(step.cgroups).filter(([group]) => !differs(group)));
  assert.deepEqual(comparable(ours), comparable(theirs), 'cgroups');
  assert.deepEqual(lastCalls(name, ours), lastCalls(name, theirs), 'calls');
  assert.deepEqual(ours.status.containers, theirs.status.containers, 'statuses of containers');
  assert.deepEqual(ours.status.pod.allocatedResources, theirs.status.pod.allocatedResources, 'what is allocated');
  assert.deepEqual(plain(ours.files), plain(theirs.files), 'records');
  assert.deepEqual(ours.events.map(withoutPod), timelyEvents(theirs).map(withoutPod), 'events');
  // The reference may be done before it has published that a resize is in progress.
  for (const condition of theirs.conditions) assert.ok(ours.conditions.map(withoutPod).includes(condition), condition);
}

/** It changes memory and CPU one after the other; ours gives both in one call, and tells the runtime about the pod once. */
function lastCalls(name: string, { calls }: LivedStep): readonly string[] {
  const last = new Map(
    calls
      .filter((call) => !call.startsWith('UpdatePodSandbox') && !differsInShares(name, call))
      .map((call) => [call.split(' ').slice(0, 2).join(' '), call]),
  );
  return [...last.values()].sort();
}

const differsInShares = (name: string, call: string) => name === 'pod-level' && call.includes(' two ');

/** The reference writes down amounts of zero where there is none. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => [key, plain(one)] as const);
  return Object.fromEntries(entries.filter(([, one]) => one !== '0' && !(isObject(one) && isEmpty(one))));
}
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isEmpty = (value: object): boolean => Object.keys(value).length === 0;

/**
 * The reference may take the state before a resize for the end of it, and then reports that it is complete with the old resources,
 * sometimes as its only such event. Ours reports it once, with the resources that the resize started with.
 */
function timelyEvents({ events }: LivedStep): readonly string[] {
  const payload = (event: string) => event.slice(event.indexOf('{'));
  const started = events.find((event) => event.includes('ResizeStarted'));
  const last = events.length - 1;
  const isCompleted = (event: string) => event.includes('ResizeCompleted');
  return events
    .filter((event, at) => !isCompleted(event) || at === last)
    .map((event) =>
      isCompleted(event) && started !== undefined ? event.replace(payload(event), payload(started)) : event,
    );
}

/** Ours names the limit of the pod too where both are in the way. */
function withoutPod(text: string): string {
  return text.replace(/\[attempting to set pod memory limit \(N\) below current usage \(N\), (.*)\]/, '$1');
}
