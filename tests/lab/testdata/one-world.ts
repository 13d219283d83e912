/** A test file of the kind people write, to be run by a test: fails where it is told to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lab } from '../lab.ts';

test('uses a world', async (t) => {
  await using node = await lab.node({ test: t, kubelet: 'none' });
  await node.exec(['true']);
  if (process.env['OUTCOME'] === 'hang') await node.exec(['sleep', '1000']);
  assert.equal(process.env['OUTCOME'], 'pass');
});
