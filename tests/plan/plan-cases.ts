/** Tables of plans: what is there, and what is to be done, one line for each action. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, RestartPolicy } from '../../src/api/container.ts';
import { sandboxId } from '../../src/api/ids.ts';
import type { PodSpec } from '../../src/api/pod.ts';
import type { ObservedContainer, ObservedSandbox } from '../../src/model/observation.ts';
import { computePlan } from '../../src/plan/compute-plan.ts';
import { makePod, makeSandbox, makeSnapshot, observe, type SnapshotParts } from './builders.ts';
import { describe } from './describe.ts';

export interface Case {
  readonly name: string;
  readonly spec?: Partial<PodSpec>;
  readonly sandboxes?: readonly ObservedSandbox[];
  readonly containers?: readonly ObservedContainer[];
  readonly parts?: SnapshotParts;
  readonly actions: readonly string[];
  readonly finished?: boolean;
}

export const c = (more: Partial<Container> = {}): Container => ({ name: 'c', image: 'i', ...more });
export const init = (name: string, more: Partial<Container> = {}): Container => ({ name, image: 'i', ...more });
export const policy = (restartPolicy: RestartPolicy) => ({ restartPolicy });
export const two = { containers: [c(), c({ name: 'd' })] };
export const stopped = makeSandbox({ ready: false });
export const other = sandboxId('s1');
export const i12 = { initContainers: [init('i1'), init('i2')] };

export function check(cases: readonly Case[]): void {
  for (const { name, spec, sandboxes, containers = [], parts, actions, finished = false } of cases) {
    test(name, () => {
      const snapshot = makeSnapshot(makePod(spec), observe(containers, sandboxes), parts);
      const plan = computePlan(snapshot);
      assert.deepEqual(plan.actions.map(describe), actions);
      assert.equal(plan.finished, finished);
      // A decision that is made twice is the same decision.
      assert.deepEqual(computePlan({ ...snapshot, crashes: plan.crashes }).actions, plan.actions);
    });
  }
}
