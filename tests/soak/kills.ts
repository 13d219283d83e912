/** kill -9 of the kubelet again and again while pods with probes run: no one may notice. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { idles, podNames, randomNumbers } from '../node/better-support.ts';
import { type PodNode, podNode, stays, until } from '../node/pod-support.ts';
import { createTail, isReady, parseStatuses, type ToldStatus } from './status-log.ts';

export interface KillSettings {
  readonly pods: number;
  readonly kills: number;
  readonly seed: number;
}

const LABEL = 'disk=fast';
/** A kubelet lives this long at most before it is killed: into its start, and well past it. */
const LONGEST_LIFE_MS = 1500;
const ALL_READY_MS = 120_000;

export async function killAgainAndAgain(t: TestContext, { pods, kills, seed }: KillSettings): Promise<void> {
  t.diagnostic(`seed ${seed}`);
  const random = randomNumbers(seed);
  const place = await podNode(t, { flags: [`--node-labels=${LABEL}`] });
  const { kubelet } = place.node;
  const names = podNames(pods);
  for (const [index, name] of names.entries()) await place.write(name, specOf(index, pods));
  await untilReady(kubelet.logFile, names);
  const before = await containerIds(place);
  const tail = createTail(kubelet.logFile);
  await tail.fresh();

  for (let round = 0; round < kills; round += 1) {
    await kubelet.kill();
    // From half-way on, the label that some of the pods ask for is not there any more.
    await kubelet.start(round * 2 >= kills ? { flags: ['-v=2'] } : {});
    await delay(random() * LONGEST_LIFE_MS);
  }
  // Whatever the last kubelet would do about them, it has done when it has brought up another pod and heard the probes.
  await place.write('last', { containers: [stays('c')] });
  await place.running('last', 'c');
  await delay(2000 * periodSeconds(pods));

  const told = parseStatuses(await tail.fresh()).filter(({ pod }) => names.includes(pod));
  const seen = new Set(told.map(({ pod }) => pod));
  assert.deepEqual(
    names.filter((name) => !seen.has(name)),
    [],
    'the status of every pod was told again',
  );
  t.diagnostic(`${kills} kills, ${told.length} statuses told`);
  assert.deepEqual(
    told
      .filter(({ status }) => !isReady(status))
      .map(describe)
      .slice(0, 5),
    [],
  );
  const after = (await containerIds(place)).filter((id) => before.includes(id) || !id.startsWith('last '));
  assert.deepEqual(after, before);
}

/** Many pods are asked less often, so that the machine still gets to do something else. */
const periodSeconds = (pods: number): number => Math.max(2, Math.ceil(pods / 10));

/** Every kind of handler, and every kind of probe. */
function specOf(index: number, pods: number): object {
  const times = { periodSeconds: periodSeconds(pods), timeoutSeconds: 5, failureThreshold: 1 };
  const handler = [
    { exec: { command: ['true'] } },
    { httpGet: { path: '/readyz', port: 8080 } },
    { tcpSocket: { port: 8080 } },
  ][index % 3];
  const server = { name: 'c', image: 'lab.local/testserver:1' };
  const container = index % 3 === 0 ? idles('c') : server;
  return {
    ...(index % 5 === 0 ? { nodeSelector: { disk: 'fast' } } : {}),
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        ...container,
        readinessProbe: { ...handler, ...times },
        livenessProbe: { ...handler, ...times, failureThreshold: 3 },
        ...(index % 2 === 0 ? { startupProbe: { ...handler, ...times, failureThreshold: 30 } } : {}),
      },
    ],
  };
}

async function untilReady(logFile: string, names: readonly string[]): Promise<void> {
  const tail = createTail(logFile);
  const ready = new Map<string, boolean>();
  await until(
    'every pod is ready',
    async () => {
      for (const { pod, status } of parseStatuses(await tail.fresh())) ready.set(pod, isReady(status));
      return names.every((name) => ready.get(name)) ? true : undefined;
    },
    ALL_READY_MS,
  );
}

async function containerIds({ cri }: PodNode): Promise<readonly string[]> {
  const all = await cri.containers.list(undefined, AbortSignal.timeout(30_000));
  return all
    .map(({ id, labels, metadata, state }) => {
      const pod = labels['io.kubernetes.pod.name']?.replace(/-node$/, '');
      return `${pod} ${metadata?.name}#${metadata?.attempt} ${state} ${id}`;
    })
    .sort();
}

function describe({ pod, status }: ToldStatus): string {
  return `${pod}: ${JSON.stringify(status)}`;
}
