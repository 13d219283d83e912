import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podNode, runs, stays, until } from './pod-support.ts';

test('--runonce brings every pod up, ends well and leaves them running', async (t) => {
  const { node, write, running, containers } = await podNode(t, { kubelet: 'none' });
  await write('stays', { containers: [stays('a'), stays('b')] });
  await write('once', { restartPolicy: 'Never', containers: [runs('c', 'true')] });
  const ended = await runOnce(node);
  assert.equal(ended.code, 0, node.kubelet.logTail());
  await running('stays', 'a');
  await running('stays', 'b');
  assert.equal((await containers('once', 'c')).length, 1);
});

async function runOnce(node: Awaited<ReturnType<typeof podNode>>['node']) {
  // It may be over before its health was ever asked for.
  await node.kubelet.start({ flags: ['-v=2', '--runonce'] }).catch(() => undefined);
  return await until('it ends', () => (node.kubelet.isRunning() ? undefined : node.kubelet.exited()));
}
