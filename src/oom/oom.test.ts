/** The watcher over a log and counters in memory: each kill is reported once, whatever the kernel leaves out. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import type { SupervisorDeps } from '../base/supervise.ts';
import { createTestSupervisor, throwOnce } from '../base/supervise-testing.ts';
import type { EventInput } from '../model/event.ts';
import { createOomWatcher, type KernelLogListener } from './oom.ts';
import type { OomContainer, OomPod } from './rules/owner.ts';

const directory = await mkdtemp(join(tmpdir(), 'oom-'));
after(() => rm(directory, { recursive: true }));
/** What happens in the background, with real files, takes a moment. */
async function until(what: string, isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!isSo()) {
    assert.ok(performance.now() < deadline, `not within a minute: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const NOW = 1_000_000;
const container = (id: string, more: Partial<OomContainer> = {}): OomContainer => ({
  id,
  name: id.replace(/\d/g, ''),
  cgroup: `/kubepods/podu/${id}`,
  fieldPath: `spec.containers{${id}}`,
  createdAt: NOW + 1,
  oomKilledAt: undefined,
  ...more,
});
const podOf = (...containers: readonly OomContainer[]): OomPod => ({
  uid: 'u',
  name: 'web',
  namespace: 'default',
  cgroup: '/kubepods/podu',
  containers,
});

/** The machine: its log and its counters outlive a kubelet. */
function createKernel() {
  const records: string[] = [];
  const counts = new Map<string, number>();
  const listeners = new Set<KernelLogListener>();
  const log = (text: string) => {
    const record = `6,${100 + records.length},1,-;${text}`;
    records.push(record);
    for (const one of listeners) one.onRecord(record);
  };
  const drained = () => {
    for (const one of listeners) one.onDrained();
  };
  return {
    counts,
    listeners,
    log,
    follow: (listener: KernelLogListener) => {
      for (const record of records) listener.onRecord(record);
      listener.onDrained();
      listeners.add(listener);
      return { close: () => void listeners.delete(listener) };
    },
    kill: (pid: number, id: string, { hasReport = true } = {}) => {
      counts.set(`/kubepods/podu/${id}`, (counts.get(`/kubepods/podu/${id}`) ?? 0) + 1);
      if (hasReport) {
        log('x invoked oom-killer: gfp_mask=0xcc0');
        log('memory: usage 1024kB, limit 1024kB, failcnt 1');
        log(
          `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/kubepods/podu/${id},task_memcg=/kubepods/podu/${id},task=x,pid=${pid},uid=0`,
        );
      }
      log(`Memory cgroup out of memory: Killed process ${pid} (x) total-vm:1kB, anon-rss:1kB`);
      drained();
    },
    drained,
  };
}

let files = 0;

function createNode(
  kernel = createKernel(),
  statePath = join(directory, `state-${++files}`),
  faults: Partial<SupervisorDeps> = {},
) {
  const clock = createManualClock(NOW);
  const events: EventInput[] = [];
  const errors: string[] = [];
  const world: { pods: readonly OomPod[]; isDenied: boolean } = { pods: [podOf(container('c1'))], isDenied: false };
  const silent = createSilentLogger();
  const log = { ...silent, named: () => log, error: (text: string) => void errors.push(text) };
  const watcher = createOomWatcher(
    {
      clock,
      log,
      supervisor: createTestSupervisor(clock, faults),
      record: (event) => void events.push(event),
      followKernelLog: (listener) => {
        if (world.isDenied) throw new Error('EPERM');
        return kernel.follow(listener);
      },
      pods: () => world.pods,
      groups: () => ({ pods: '/kubepods', classes: [] }),
      killCount: (cgroup) => kernel.counts.get(cgroup),
      cgroupOf: () => '/',
    },
    { statePath, bootId: 'boot' },
  );
  const stop = new AbortController();
  return {
    kernel,
    clock,
    events,
    errors,
    world,
    watcher,
    statePath,
    saved: () => (existsSync(statePath) ? readFileSync(statePath, 'utf8') : ''),
    start: async () => {
      await watcher.start(stop.signal);
      for (const pod of world.pods) watcher.podChanged(pod);
    },
    stop: async () => {
      stop.abort('stopped');
      await watcher.stop?.();
    },
  };
}

const messages = (events: readonly EventInput[]) => events.map(({ message }) => message);
const SURE = (pid: number) =>
  `Process x (pid ${pid}) in container c was killed: the container reached its memory limit of 1Mi`;

describe('the OOM watcher', () => {
  it('reports a kill on its pod and counts it, and no kill of others', async () => {
    const node = createNode();
    await node.start();
    node.kernel.kill(7, 'c1');
    node.kernel.log(
      'oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/other,task_memcg=/other,task=x,pid=8,uid=0',
    );
    node.kernel.log('Memory cgroup out of memory: Killed process 8 (x) total-vm:1kB');
    node.kernel.drained();
    await node.clock.advance(60_000);
    assert.deepEqual(messages(node.events), [SURE(7)]);
    assert.equal(node.watcher.kills('u', 'c'), 1);
    await node.stop();
  });

  it('goes on after its loop has failed', async () => {
    const node = createNode(undefined, undefined, { beforeRound: throwOnce('oom watcher') });
    await node.start();
    await node.clock.advance(1000);
    node.kernel.kill(7, 'c1');
    node.kernel.drained();
    await node.clock.advance(60_000);
    assert.deepEqual(messages(node.events), [SURE(7)]);
    await node.stop();
  });

  it('reports lack of memory of the machine on the node, and on the pod', async () => {
    const node = createNode();
    await node.start();
    node.kernel.log(
      'oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/kubepods/podu/c1,task=x,pid=9,uid=0',
    );
    node.kernel.log('Out of memory: Killed process 9 (x) total-vm:1kB');
    assert.deepEqual(messages(node.events), [
      'System OOM encountered, victim process: x, pid: 9',
      'Process x (pid 9) in container c was killed: the node ran out of memory',
    ]);
    await node.stop();
  });

  it('waits for the observation of a container that was killed at once', async () => {
    const node = createNode();
    await node.start();
    node.kernel.kill(7, 'c2');
    assert.deepEqual(node.events, []);
    const pod = podOf(container('c1'), container('c2'));
    node.world.pods = [pod];
    node.watcher.podChanged(pod);
    assert.deepEqual(messages(node.events), [SURE(7)]);
    await node.clock.advance(60_000);
    assert.equal(node.events.length, 1);
    await node.stop();
  });

  it('reports on the pod where the container stays unknown', async () => {
    const node = createNode();
    await node.start();
    node.kernel.kill(7, 'c2');
    await node.clock.advance(10_000);
    assert.deepEqual(messages(node.events), [
      'Process x (pid 7) was killed: the container reached its memory limit of 1Mi',
    ]);
    await node.stop();
  });

  it('loses no kill of a burst of which the kernel leaves out the reports', async () => {
    const node = createNode();
    await node.start();
    for (let pid = 1; pid <= 30; pid += 1) node.kernel.kill(pid, 'c1', { hasReport: pid <= 10 });
    await node.clock.advance(1000);
    assert.equal(node.watcher.kills('u', 'c'), 30);
    const pids = messages(node.events).map((text) => Number(/pid (\d+)/.exec(text)?.[1]));
    assert.deepEqual(
      pids,
      Array.from({ length: 30 }, (_, at) => at + 1),
    );
    node.kernel.kill(31, 'c1');
    await node.clock.advance(60_000);
    assert.equal(node.events.length, 31);
    await node.stop();
  });

  it('names no process where several containers come into question', async () => {
    const node = createNode();
    node.world.pods = [podOf(container('c1'), container('d1'))];
    await node.start();
    node.kernel.kill(1, 'c1', { hasReport: false });
    node.kernel.kill(2, 'd1', { hasReport: false });
    await node.clock.advance(1000);
    assert.deepEqual(messages(node.events), [
      'A process in container c was killed: a memory limit was reached',
      'A process in container d was killed: a memory limit was reached',
    ]);
    await node.stop();
  });

  it('knows from the runtime of a container whose counter went before it was read', async () => {
    const node = createNode();
    await node.start();
    node.kernel.log('Memory cgroup out of memory: Killed process 5 (x) total-vm:1kB');
    node.kernel.drained();
    await node.clock.advance(1000);
    const pod = podOf(container('c1', { oomKilledAt: NOW + 500 }));
    node.world.pods = [pod];
    node.watcher.podChanged(pod);
    node.watcher.podChanged(pod);
    assert.equal(messages(node.events).length, 1);
    assert.equal(node.watcher.kills('u', 'c'), 1);
    await node.stop();
  });

  it('counts on after the kernel dropped records', async () => {
    const node = createNode();
    await node.start();
    node.kernel.counts.set('/kubepods/podu/c1', 2);
    for (const one of node.kernel.listeners) one.onGap();
    node.kernel.drained();
    await node.clock.advance(1000);
    assert.equal(node.watcher.kills('u', 'c'), 2);
    assert.equal(node.events.length, 2);
    await node.stop();
  });
});

describe('the OOM watcher over restarts', () => {
  it('of a container counts on', async () => {
    const node = createNode();
    await node.start();
    node.kernel.kill(7, 'c1');
    const pod = podOf(container('c2'));
    node.world.pods = [pod];
    node.watcher.podChanged(pod);
    node.kernel.kill(8, 'c2');
    assert.equal(node.watcher.kills('u', 'c'), 2);
    node.watcher.podGone('u');
    assert.equal(node.watcher.kills('u', 'c'), 0);
    await node.stop();
  });

  it('of the kubelet reports nothing twice, and what happened in between', async () => {
    const first = createNode();
    await first.start();
    first.kernel.kill(7, 'c1');
    await until('it is written down', () => first.saved().includes('["u","c",1]'));
    await first.stop();
    first.kernel.kill(8, 'c1');
    const second = createNode(first.kernel, first.statePath);
    await second.start();
    assert.deepEqual(messages(second.events), [SURE(8)]);
    assert.equal(second.watcher.kills('u', 'c'), 2);
    await second.stop();
  });

  it('reports nothing of the time before the first start, but has the count', async () => {
    const node = createNode();
    node.kernel.kill(7, 'c1');
    node.world.pods = [podOf(container('c1', { createdAt: NOW - 1000 }))];
    await node.start();
    await node.clock.advance(60_000);
    assert.deepEqual(node.events, []);
    assert.equal(node.watcher.kills('u', 'c'), 1);
    node.kernel.kill(8, 'c1');
    assert.deepEqual(messages(node.events), [SURE(8)]);
    await node.stop();
  });

  it('goes on where the log was closed, without reading anything twice', async () => {
    const node = createNode();
    await node.start();
    node.kernel.kill(7, 'c1');
    for (const one of [...node.kernel.listeners]) one.onFailure(new Error('EIO'));
    await node.clock.advance(1000);
    await until('the log is followed again', () => node.kernel.listeners.size === 1);
    node.kernel.kill(8, 'c1');
    assert.deepEqual(messages(node.events), [SURE(7), SURE(8)]);
    await node.stop();
  });

  it('without the right to read the log knows what the runtime says', async () => {
    const node = createNode();
    node.world.isDenied = true;
    await node.start();
    await until('an error', () => node.errors.length > 0);
    assert.deepEqual(node.errors, ['Failed to follow the kernel log, OOM kills are known from the runtime only']);
    const pod = podOf(container('c1', { oomKilledAt: NOW + 500 }));
    node.world.pods = [pod];
    node.watcher.podChanged(pod);
    assert.deepEqual(messages(node.events), ['A process in container c was killed: a memory limit was reached']);
    await node.stop();
  });
});
