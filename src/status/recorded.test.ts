/**
 * The recorded lives of 60 pods, walked again: from the runtime's side of each recorded status (which containers there
 * were, how they ended, what the probes said) our status must come out as the reference's, one after the other.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { loadLives, type RecordedLife } from '../../tests/recorded/lives.ts';
import { reconstructView } from '../../tests/recorded/status-views.ts';
import type { PodStatus } from '../api/pod-status.ts';
import { type KnownStatus, nextStatus, type StatusSurroundings } from './rules/next-status.ts';
import type { StatusGates } from './rules/status-input.ts';

interface Difference {
  readonly paths: readonly string[];
  readonly where: 'listed' | 'sandbox-just-ready' | 'no-memory-limit';
  readonly statuses?: readonly string[];
  readonly reason: string;
}

const differences: readonly Difference[] = JSON.parse(
  readFileSync(new URL('../../tests/recorded/status-differences.json', import.meta.url), 'utf8'),
);
const used = new Set<Difference>();
const NO_LIMIT = '9007199254740988Ki';

function applies({ where, statuses = [] }: Difference, life: RecordedLife, index: number): boolean {
  const status = recordedAt(life, index);
  switch (where) {
    case 'listed':
      return statuses.includes(`${life.name}:${index}`);
    case 'sandbox-just-ready':
      return index === 2 && status.podIP === undefined && status.conditions?.[0]?.status === 'True';
    case 'no-memory-limit':
      return status.resources?.limits?.['memory'] === NO_LIMIT;
  }
}

function differencesAt(life: RecordedLife, index: number): readonly string[] {
  const found = differences.filter((difference) => applies(difference, life, index));
  for (const difference of found) used.add(difference);
  return found.flatMap(({ paths }) => paths);
}

function recordedAt(life: RecordedLife, index: number): PodStatus {
  const recorded = life.statuses[index];
  assert.ok(recorded !== undefined, `${life.name} has no status ${index}`);
  return recorded.status;
}

function without(status: PodStatus, paths: readonly string[]): unknown {
  const copy = structuredClone(status) as Record<string, unknown>;
  for (const path of paths) {
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    const holder = keys.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], copy);
    delete (holder as Record<string, unknown>)[last];
  }
  return copy;
}

const gates: StatusGates = {
  podReadyToStartContainers: true,
  containerStopSignals: false,
  podLevelResources: true,
  inPlacePodLevelResources: true,
  restartAllContainers: true,
};

function surroundings(life: RecordedLife, now: number): StatusSurroundings {
  return {
    now,
    nodeIps: ['192.0.2.10'],
    runtimeName: 'containerd',
    qosClass: recordedAt(life, 0).qosClass ?? 'BestEffort',
    recursiveReadOnly: true,
    gates,
  };
}

for (const life of loadLives()) {
  test(`${life.name}: ${life.statuses.length - 1} statuses`, () => {
    let known: KnownStatus | undefined;
    let published: PodStatus | undefined;
    for (let index = 1; index < life.statuses.length; index += 1) {
      const paths = differencesAt(life, index);
      if (paths.includes('*')) continue;
      const { view, at } = reconstructView(life, index);
      const next = nextStatus(known, view, surroundings(life, at));
      known = next.known;
      if (next.isChange) published = known.change.status;
      assert.deepEqual(without(known.change.status, paths), without(recordedAt(life, index), paths), `status ${index}`);
      assert.deepEqual(published, known.change.status, 'what is shown was published');
    }
    assert.equal(known?.change.final, true);
    const { view, at } = reconstructView(life, life.statuses.length - 1);
    assert.equal(nextStatus(known, view, surroundings(life, at)).isChange, false, 'the end is published once');
  });
}

after(() =>
  assert.deepEqual(
    differences.filter((difference) => !used.has(difference)),
    [],
    'every difference is met',
  ),
);
