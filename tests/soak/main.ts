/** `make soak`: hours of churn and hundreds of kills. `node tests/soak/main.ts [--minutes N] [--seed S] [--kills N] [--pods N] [--away MINUTES]` */
import { test } from 'node:test';
import { parseArgs } from 'node:util';
import { podCluster } from '../cluster/pods-support.ts';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { seedOf } from '../node/better-support.ts';
import { churn } from './churn.ts';
import { killAgainAndAgain } from './kills.ts';
import { planeAway } from './plane-away.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    kills: { type: 'string', default: '100' },
    pods: { type: 'string', default: '50' },
    away: { type: 'string', default: '10' },
    seed: { type: 'string' },
  },
});

function count(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0) throw new Error(`--${name} ${text}: must be a number that is not negative`);
  return value;
}

const seed = values.seed === undefined ? seedOf(process.env) : count('seed', values.seed);
const kills = count('kills', values.kills);
const pods = count('pods', values.pods);
const away = count('away', values.away);
const seconds = count('minutes', values.minutes) * 60;
console.log(`soak: seed ${seed} (--seed ${seed} makes the same choices again)`);

test(`${kills} times kill -9 of the kubelet beside ${pods} pods with probes`, { timeout: Infinity }, async (t) => {
  await killAgainAndAgain(t, { pods, kills, seed });
});

test(`${seconds / 60} minutes of pods that come, change, crash and go`, { timeout: Infinity }, async (t) => {
  await churn(t, { seconds, pods: Math.min(pods, 30), seed });
});

test(`${away} minutes without a control plane`, {
  timeout: Infinity,
  skip: whyClusterIsSkipped(process.env),
}, async (t) => {
  await planeAway(await podCluster(t), t, { seconds: away * 60, each: 6 });
});
