/** A node with the real logind is shut down: as the reference does it, and better where its kubelet is killed in the middle. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { until } from '../node/pod-support.ts';
import {
  beginShutdown,
  createPod,
  createShutdownNode,
  linesOf,
  nodeEvents,
  podSpec,
  RECORDED,
  recordShutdown,
  type ShutdownNode,
  untilEnded,
  untilLine,
  untilLock,
  untilNode,
  untilRuns,
  WAIT_MS,
} from './shutdown-support.ts';

const MESSAGE = 'Pod was terminated in response to imminent node shutdown.';
const OURS = resolve(import.meta.dirname, '../../dist/kubelet');

const texts = async (node: ShutdownNode, pod: string) => (await linesOf(node, pod)).map(({ text }) => text);

/** The line with which the static pod last began: with its time in front. Older logs are removed, so that lines can't be counted. */
async function lastStart({ sh }: ShutdownNode): Promise<string> {
  return (await sh('cat /var/log/pods/default_static-node_*/main/*.log | grep " up$" | sort | tail -1 || true')).trim();
}

function untilStart(node: ShutdownNode, before: string): Promise<string> {
  const next = async () => {
    const last = await lastStart(node);
    return last > before ? last : undefined;
  };
  return until(`the static pod has begun after ${before}`, next, WAIT_MS);
}

interface Ordered {
  readonly order: readonly string[];
}

/** Pods of one priority get their signals at the same time: which of them comes first is chance. */
const withoutTies = <T extends Ordered>(facts: T): T => ({
  ...facts,
  order: facts.order.filter((line) => line !== 'ignores term'),
});

test('a node is shut down gracefully', { skip: whyClusterIsSkipped(process.env) }, async (t) => {
  await using node = await createShutdownNode('ours');
  const { plane, sh } = node;

  await t.test('as the reference does it, and a cancelled shutdown opens it again', async () => {
    await node.writePod('static', podSpec({ grace: 30 }));
    const first = await untilStart(node, '');
    const { lines, ...facts } = await recordShutdown(node);
    const recorded: Ordered = JSON.parse(await readFile(RECORDED, 'utf8'));
    assert.deepEqual(withoutTies(JSON.parse(JSON.stringify(facts))), withoutTies(recorded));
    const [told] = lines.filter(({ pod, text }) => pod === 'ignores' && text === 'term');
    const [next] = lines.filter(({ pod, text }) => pod === 'high' && text === 'term');
    assert.ok((next?.at ?? 0) - (told?.at ?? 0) >= 3_000, 'the pod that ignores its signal had less than its 6 s');
    // The reference closes its new lock: the number of the descriptor is that of the old one.
    await untilLock(node, true);
    // With the reference it stays down until the kubelet is restarted.
    await untilStart(node, first);
    const wanted = ['event', 'cancellation'].map(
      (what) => `Normal Shutdown Shutdown manager detected shutdown ${what}`,
    );
    await until(
      'both events',
      async () => {
        const events = await nodeEvents(node);
        return wanted.every((one) => events.includes(one)) ? true : undefined;
      },
      WAIT_MS,
    );
  });

  await t.test(
    'killed in the middle, the kubelet goes on: one signal and the full grace for each container',
    async () => {
      await createPod(node, 'stubborn', { grace: 120, ignores: true });
      await createPod(node, 'second', { grace: 30, priorityClassName: 'high' });
      for (const pod of ['stubborn', 'second']) await untilRuns(node, pod);
      await untilLock(node, true);
      const before = await lastStart(node);
      const cancel = await beginShutdown(node);
      const told = await untilLine(node, 'stubborn', 'term');
      await sh('systemctl kill --kill-whom=main --signal=KILL kubelet');
      const stubborn = await untilEnded(node, 'stubborn');
      assert.deepEqual([stubborn.phase, stubborn.reason, stubborn.message], ['Failed', 'Terminated', MESSAGE]);
      const second = await untilEnded(node, 'second');
      assert.equal(second.phase, 'Succeeded', 'its container ended with success');
      for (const { conditions } of [stubborn, second])
        assert.ok(conditions.includes(`DisruptionTarget True TerminationByKubelet ${MESSAGE}`), conditions.join());
      assert.deepEqual(await texts(node, 'stubborn'), ['up', 'term']);
      assert.deepEqual(await texts(node, 'second'), ['up', 'term', 'bye']);
      const next = await untilLine(node, 'second', 'term');
      assert.ok(next - told >= 3_000, `${next - told} ms between the groups`);
      t.diagnostic(`${next - told} ms from the first signal to that of the next group`);
      assert.match(await untilNode(plane, 'False'), /node is shutting down/);
      await cancel();
      await untilNode(plane, 'True');
      await untilLock(node, true);
      await untilStart(node, before);
    },
  );

  await t.test(
    'kubelet drain ends the pods and keeps new ones away, over a restart too, until it is cancelled',
    async () => {
      await createPod(node, 'drained', { grace: 30 });
      await untilRuns(node, 'drained');
      assert.equal(await sh(`${OURS} drain`), 'node is drained\n');
      const { conditions } = await untilEnded(node, 'drained');
      const why = 'Pod was terminated because the node is being drained.';
      assert.ok(conditions.includes(`DisruptionTarget True TerminationByKubelet ${why}`), conditions.join());
      assert.deepEqual(await texts(node, 'drained'), ['up', 'term', 'bye']);
      assert.match(await untilNode(plane, 'False'), /node is being drained/);
      await sh('systemctl restart kubelet');
      await createPod(node, 'kept-away', { grace: 1 });
      assert.equal((await untilEnded(node, 'kept-away')).reason, 'NodeShutdown');
      const before = await lastStart(node);
      assert.equal(await sh(`${OURS} drain --cancel`), 'node is open again\n');
      await untilNode(plane, 'True');
      await untilStart(node, before);
      await createPod(node, 'welcome', { grace: 1 });
      await untilRuns(node, 'welcome');
    },
  );
});
