/** The short form of `make soak`. */
import { test } from 'node:test';
import { churn } from '../soak/churn.ts';
import { killAgainAndAgain } from '../soak/kills.ts';
import { seedOf } from './better-support.ts';

test('kill -9 of the kubelet with pods that have probes: no container changes, no pod gets unready', async (t) => {
  await killAgainAndAgain(t, { pods: 10, kills: 6, seed: seedOf(process.env) });
});

test('pods come, change, crash and go, the kubelet and the runtime die in between: nothing doubled, lost or left', async (t) => {
  await churn(t, { seconds: 20, pods: 8, seed: seedOf(process.env) });
});
