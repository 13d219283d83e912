/** Exec checks and hooks on real containers of both generations of containerd. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { containerId } from '../../src/api/ids.ts';
import { createSystemClock } from '../../src/base/clock.ts';
import { createProcesses } from '../../src/host/processes.ts';
import { checkExec } from '../../src/probes/checks/exec.ts';
import { createExecLeftovers } from '../../src/probes/checks/exec-leftovers.ts';
import { createHooks } from '../../src/probes/probes.ts';
import { refusal } from '../../src/probes/rules/outcome.ts';
import type { CriClient } from '../../src/runtime/cri/client.ts';
import type { RuntimeName } from '../lab/supplies.ts';
import { eventually, labNode, never, SLEEPER, startPod } from './cri-support.ts';
import { RUNTIMES } from './runtimes.ts';

const clock = createSystemClock();

async function container(t: TestContext, runtime: RuntimeName) {
  const { node, cri } = await labNode(t, runtime);
  const { container: id } = await startPod(cri, node, SLEEPER);
  return { cri, id };
}

const leftovers = createExecLeftovers(clock, createProcesses());

function execCheck(cri: CriClient, containerId: string, command: readonly string[], timeoutSeconds = 60) {
  return checkExec(
    { clock, execSync: cri.streams.execSync, leftovers },
    { containerId, command, timeoutSeconds },
    never,
  );
}

/** How many processes of the machine were started with this argument. */
function countWith(argument: string): number {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && commandOf(name).includes(argument)).length;
}

function commandOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

for (const runtime of RUNTIMES) {
  test(`exec checks on ${runtime}`, async (t) => {
    const { cri, id } = await container(t, runtime);
    const run = (script: string) => execCheck(cri, id, ['sh', '-c', script]);

    assert.deepEqual(await run('echo fine'), { kind: 'success', output: 'fine\n' });
    assert.deepEqual(await run('echo out; echo err >&2; exit 3'), refusal('out\nerr\n'));
    const long = await run('yes | head -c 30000; exit 1');
    assert.equal(long.kind === 'failure' && long.output.length, 10 * 1024);
    const missing = await execCheck(cri, id, ['/no/such/program']);
    assert.ok(missing.kind === 'error' && missing.state === 'unknown', JSON.stringify(missing));
    assert.match(missing.message, /^rpc error: code = .* \/no\/such\/program/);
  });

  test(`an exec check ends at its timeout on ${runtime}, with all that it has started`, async (t) => {
    const { cri, id } = await container(t, runtime);
    const mark = String(800_000 + (process.pid % 100_000));
    // A command of somebody else, at the same time, in the same container: it must live.
    const other = cri.streams.execSync({ containerId: id, command: ['sleep', '12'], timeoutSeconds: 0 }, never);
    const bystander = cri.streams.execSync(
      { containerId: id, command: ['sh', '-c', `sleep ${mark}1 >/dev/null 2>&1 & exit 0`], timeoutSeconds: 0 },
      never,
    );
    await bystander;
    for (const script of [
      `sleep ${mark}`,
      `sleep ${mark} & sleep ${mark}; true`,
      // Holds the output open after the first process is gone.
      `(sleep ${mark} & sleep ${mark}) & wait`,
      // A session of its own.
      `setsid sleep ${mark} & wait`,
      // Takes no notice of gentle signals, and starts others all the time.
      `trap '' TERM INT; while :; do sleep ${mark} & sleep 0.05; done`,
    ]) {
      await leftovers.idle(id);
      const began = performance.now();
      const outcome = await execCheck(cri, id, ['sh', '-c', script], 2);
      const took = performance.now() - began;
      assert.equal(outcome.kind, 'failure', script);
      assert.match(
        outcome.kind === 'failure' ? outcome.output : '',
        /^command timed out: "sh -c .*" timed out after 2s$/s,
      );
      assert.ok(took >= 1990 && took < 60_000, `${script}: ${took} ms`);
      await eventually(`${script} is over`, () => (countWith(mark) === 0 ? true : undefined));
    }
    assert.equal(countWith(`${mark}1`), 1, 'what somebody else started in the background lives');
    assert.equal((await other).exitCode, 0, 'a command of somebody else ran to its end');
  });

  test(`exec and sleep hooks on ${runtime}`, async (t) => {
    const { cri, id } = await container(t, runtime);
    const hooks = createHooks(
      { clock, execSync: cri.streams.execSync, nodeIps: () => [], record: () => undefined },
      { kubernetesVersion: 'v1.36.4' },
    );
    const pod = { metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec: { containers: [] } };
    const run = (handler: object, signal: AbortSignal = never) =>
      hooks.run(
        { kind: 'postStart', handler, pod, container: { name: 'c' }, containerId: containerId(id), podIps: [] },
        signal,
      );

    assert.equal(await run({ exec: { command: ['true'] } }), undefined);
    assert.equal(
      await run({ exec: { command: ['sh', '-c', 'echo "a b"; echo bad >&2; exit 4'] } }),
      'Exec lifecycle hook ([sh -c echo "a b"; echo bad >&2; exit 4]) for Container "c" in Pod "p_n(u)" failed - error: ' +
        `command 'sh -c echo "a b"; echo bad >&2; exit 4' exited with 4: bad\n, message: "a b\\nbad\\n"`,
    );
    const stop = new AbortController();
    const waiting = run({ exec: { command: ['sleep', '100'] } }, stop.signal);
    const hasCommand = async () => {
      const { stdout } = await cri.streams.execSync({ containerId: id, command: ['ps'], timeoutSeconds: 60 }, never);
      return Buffer.from(stdout).toString().includes('sleep 100\n');
    };
    await eventually('the command of the hook runs', async () => ((await hasCommand()) ? true : undefined));
    stop.abort(new Error('the pod must go'));
    await assert.rejects(waiting, /the pod must go/);
    await eventually('the command of the hook is over', async () => ((await hasCommand()) ? undefined : true));
  });
}
