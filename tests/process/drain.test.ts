/** `kubelet drain` as a command, and the kubelet that it asks. With pods and logind: tests/cluster/shutdown.test.ts. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { binary, startKubelet, temporaryDirectory } from './kubelet.ts';

async function drain(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(binary, ['drain', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: Number(code), stdout, stderr };
}

describe('kubelet drain', () => {
  it('closes the node over a restart of the kubelet, and opens it again', async () => {
    const directory = temporaryDirectory();
    const root = `--root-dir=${join(directory, 'root')}`;
    {
      await using kubelet = await startKubelet({ directory });
      await kubelet.up();
      assert.deepEqual(await drain(root), { code: 0, stdout: 'node is drained\n', stderr: '' });
      assert.match(kubelet.log(), /"Node is closed" cause="drain"/);
    }
    await using kubelet = await startKubelet({ directory });
    await kubelet.up();
    assert.deepEqual(await drain(root), { code: 0, stdout: 'node is drained\n', stderr: '' });
    assert.deepEqual(await drain(root, '--cancel'), { code: 0, stdout: 'node is open again\n', stderr: '' });
    await kubelet.waitForLog(/"Node is open again" cause="drain"/);
  });

  it('says what is wrong', async () => {
    const directory = temporaryDirectory();
    const late = await drain(`--root-dir=${directory}`, '--timeout=1s');
    assert.equal(late.code, 1);
    assert.match(late.stderr, /^Error: the kubelet has not finished in time; does it run, with this --root-dir\?/);
    assert.match((await drain('--root-dir=/nowhere')).stderr, /ENOENT.*\/nowhere/);
    assert.match((await drain('--timeout=soon')).stderr, /^Error: --timeout: /);
    assert.match((await drain('--force')).stderr, /Unknown option '--force'/);
    assert.match((await drain('--help')).stdout, /^Usage: kubelet drain/);
  });
});
