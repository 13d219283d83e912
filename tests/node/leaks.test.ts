/** Pods come and go while statistics are scraped: nothing of them stays in the kubelet. `make scraped` does it with 100 pods, ten times. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import { type PodNode, podNode, stays, until } from './pod-support.ts';
import { kubeletClient } from './streams-support.ts';

const LONG = process.env['LONG'] === '1';
const PODS = LONG ? 100 : 8;
const TIMES = LONG ? 10 : 3;
/** A hundred pods take half a minute; on a machine that does much else, many times that. */
const PATIENCE_MS = LONG ? 1_800_000 : 300_000;
const PATHS = ['/metrics/cadvisor', '/metrics/resource', '/stats/summary', '/metrics'] as const;
/** What the kubelet keeps anyway: one connection more or less, an idle timer. */
const SPARE_DESCRIPTORS = 4;
const SPARE_MEGABYTES = LONG ? 40 : 60;
const CONFIG = {
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
  maxPods: PODS + 10,
};

interface Held {
  readonly descriptors: number;
  readonly megabytes: number;
  readonly cgroups: number;
  readonly podDirectories: number;
}

function heldBy({ node }: PodNode): Held {
  const pid = node.kubelet.pid ?? assert.fail('no kubelet');
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const below = (directory: string): number =>
    readdirSync(directory, { withFileTypes: true, recursive: true }).filter((entry) => entry.isDirectory()).length;
  return {
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    megabytes: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024,
    cgroups: below(`/sys/fs/cgroup/memory/${node.world.cgroup}/kubepods`),
    podDirectories: readdirSync(`${node.kubeletDirectory}/pods`).length,
  };
}

async function scrape(place: PodNode): Promise<readonly string[]> {
  const kubelet = kubeletClient(place.node);
  const texts: string[] = [];
  for (const path of PATHS) {
    const answer = await kubelet.request(path);
    assert.equal(answer.status, 200, path);
    texts.push(answer.text());
  }
  return texts;
}

async function comeAndGo(place: PodNode, turn: number): Promise<void> {
  const names = Array.from({ length: PODS }, (_, at) => `p${turn}-${at}`);
  const files = await Promise.all(
    names.map((name) => place.write(name, { terminationGracePeriodSeconds: 1, containers: [stays('c')] })),
  );
  await until(
    'all pods are measured',
    async () => {
      const [text = ''] = await scrape(place);
      return names.every((name) => text.includes(`pod="${name}-${place.node.nodeName}"`)) ? true : undefined;
    },
    PATIENCE_MS,
  );
  await Promise.all(files.map((file) => rm(file)));
  await until(
    'all pods are gone',
    async () => ((await scrape(place)).some((text) => text.includes(`p${turn}-`)) ? undefined : true),
    PATIENCE_MS,
  );
}

test('pods that come and go leave nothing in the kubelet', { timeout: LONG ? 7_200_000 : 600_000 }, async (t) => {
  const place = await podNode(t, { config: CONFIG });
  await comeAndGo(place, 0);
  const before = heldBy(place);
  for (let turn = 1; turn < TIMES; turn += 1) await comeAndGo(place, turn);
  await until('nothing is left', () => {
    const { descriptors, cgroups, podDirectories } = heldBy(place);
    const isClean =
      cgroups <= before.cgroups && podDirectories === 0 && descriptors <= before.descriptors + SPARE_DESCRIPTORS;
    return isClean ? true : undefined;
  });
  // Garbage is collected when there is more of it.
  let megabytes = 0;
  await until('its memory is as before', async () => {
    ({ megabytes } = heldBy(place));
    if (megabytes <= before.megabytes + SPARE_MEGABYTES) return true;
    await scrape(place);
    return undefined;
  }).catch(() => assert.fail(`${before.megabytes} MB after one turn, ${megabytes} MB after ${TIMES}`));
});
