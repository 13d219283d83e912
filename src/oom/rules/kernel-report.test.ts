import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Kill, NO_REPORT, parseKernelRecord, type Report, readKillLine, sequenceOf } from './kernel-report.ts';

/** What a text of the kernel's log says, one record a line. */
function killsIn(...lines: readonly string[]): readonly Kill[] {
  let report: Report = NO_REPORT;
  return lines.flatMap((text, sequence) => {
    const read = readKillLine(report, { sequence, text });
    report = read.report;
    return read.kill === undefined ? [] : [read.kill];
  });
}

const BEGIN = 'python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0';
const LIMIT = 'memory: usage 19528kB, limit 19528kB, failcnt 94';
const details = (pid: number, more = 'oom_memcg=/kubepods/podu', task = 'python3') =>
  `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,${more},task_memcg=/kubepods/podu/c,task=${task},pid=${pid},uid=0`;
const killed = (pid: number, name = 'python3', cause = 'Memory cgroup out of memory') =>
  `${cause}: Killed process ${pid} (${name}) total-vm:114224kB, anon-rss:19200kB, file-rss:6628kB, shmem-rss:0kB, UID:0 pgtables:104kB oom_score_adj:0`;

describe('kills in the log of the kernel', () => {
  it('have their process, cgroups and limit', () => {
    assert.deepEqual(
      killsIn(BEGIN, 'Call Trace:', LIMIT, 'kmem: usage 144kB, limit 9kB, failcnt 0', details(7), killed(7)),
      [
        {
          sequence: 5,
          pid: 7,
          process: 'python3',
          cgroup: '/kubepods/podu/c',
          limitedCgroup: '/kubepods/podu',
          limitBytes: 19528 * 1024,
          isGlobal: false,
        },
      ],
    );
  });

  it('of the whole machine have no limit', () => {
    const [kill] = killsIn(BEGIN, details(7, 'global_oom'), killed(7, 'python3', 'Out of memory'));
    assert.deepEqual([kill?.isGlobal, kill?.cgroup, kill?.limitedCgroup], [true, '/kubepods/podu/c', undefined]);
  });

  it('without a report have no cgroup, also after one with a report', () => {
    const kills = killsIn(BEGIN, LIMIT, details(7), killed(7), killed(8), killed(9));
    assert.deepEqual(
      kills.map(({ pid, cgroup, limitBytes }) => [pid, cgroup, limitBytes]),
      [
        [7, '/kubepods/podu/c', 19528 * 1024],
        [8, undefined, undefined],
        [9, undefined, undefined],
      ],
    );
  });

  it('of a group are each reported once, although the kernel names the first one twice', () => {
    const group = 'Tasks in /kubepods/podu/c are going to be killed due to memory.oom.group set';
    const kills = killsIn(BEGIN, LIMIT, details(7), killed(7), group, killed(7), killed(8), killed(9));
    assert.deepEqual(
      kills.map(({ pid, cgroup, limitedCgroup }) => [pid, cgroup, limitedCgroup]),
      [7, 8, 9].map((pid) => [pid, '/kubepods/podu/c', '/kubepods/podu']),
    );
  });

  it('of a kernel before 5.0 are read, too', () => {
    const [kill] = killsIn(
      BEGIN,
      'Task in /kubepods/podu/c killed as a result of limit of /kubepods/podu',
      LIMIT,
      'Memory cgroup out of memory: Kill process 7 (python3) score 1000 or sacrifice child',
      'Killed process 7 (python3) total-vm:114224kB, anon-rss:19200kB, file-rss:6628kB, shmem-rss:0kB',
    );
    assert.deepEqual(
      [kill?.pid, kill?.cgroup, kill?.limitedCgroup, kill?.isGlobal],
      [7, '/kubepods/podu/c', '/kubepods/podu', false],
    );
  });

  it('are read whatever name the process chose', () => {
    for (const name of ['a) total-vm:', ',pid=1,uid=0', ',task=x', '', '(sd-pam)']) {
      const [kill] = killsIn(BEGIN, details(7, undefined, name), killed(7, name));
      assert.deepEqual([kill?.pid, kill?.process, kill?.cgroup], [7, name, '/kubepods/podu/c'], name);
    }
  });
});

describe('records of the kernel log', () => {
  it('have a number and a text', () => {
    assert.deepEqual(parseKernelRecord('3,48268,12888456744,-;Killed process\n SUBSYSTEM=x\n'), {
      sequence: 48268,
      text: 'Killed process',
    });
    assert.equal(sequenceOf('14,5,1,-;hello'), 5);
  });

  it('that a program wrote, or that are none, are left out', () => {
    for (const raw of ['14,5,1,-;Out of memory: Killed process 7 (x) ', 'garbage', '', '3,5,1', '3,,,;']) {
      assert.equal(parseKernelRecord(raw), undefined, raw);
    }
  });
});
