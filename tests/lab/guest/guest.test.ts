/** One guest, one boot: the system in it, containers, and the kubelet as a service on cgroup v2. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { captureOk } from '../../../tools/machine/capture.ts';
import { BUSYBOX_IMAGE, busyboxImage, IMAGE_PACKAGES, pauseImage } from '../../../tools/machine/images.ts';
import { makeImage } from '../../../tools/machine/oci/image.ts';
import { ownerOf } from '../../../tools/machine/owner.ts';
import { ensurePackages } from '../../../tools/machine/packages.ts';
import { lab } from '../lab.ts';
import { eventually } from '../static-pods.ts';
import type { Guest } from './guest.ts';

const repoRoot = resolve(import.meta.dirname, '..', '..', '..');

suite('a guest', () => {
  let guest: Guest;

  before(async () => {
    await ensurePackages(IMAGE_PACKAGES, console.error);
    // The release under test is made from the sources under test.
    await captureOk([process.execPath, '--disable-warning=ExperimentalWarning', resolve(repoRoot, 'tools/dist.ts')]);
    const images = [makeImage(await pauseImage()), makeImage(await busyboxImage())];
    guest = await lab.guest({
      kubelets: ['release', 'bundle'],
      images,
      files: { 'notes/greeting': { content: 'hello\n' }, 'notes/package.json': resolve(repoRoot, 'package.json') },
    });
  });

  after(async () => {
    await guest.stop();
    assert.equal(ownerOf(guest.pid), undefined);
    assert.ok(!existsSync(guest.world.directory));
    await assert.rejects(guest.run('true'), /the guest was stopped/);
  });

  test('runs systemd on cgroup v2 with pressure figures', async () => {
    const { code, stdout } = await guest.run('cat /proc/1/comm; stat -fc %T /sys/fs/cgroup; cat /proc/pressure/cpu');
    assert.equal(code, 0);
    assert.match(stdout, /^systemd\ncgroup2fs\nsome avg10=/);
    assert.equal((await guest.runOk('systemctl is-system-running --wait')).trim(), 'running');
    const controllers = (await guest.runOk('cat /sys/fs/cgroup/cgroup.controllers')).trim().split(' ');
    for (const name of ['cpu', 'cpuset', 'io', 'memory', 'hugetlb', 'pids'])
      assert.ok(controllers.includes(name), name);
  });

  test('has no network card, and a default route that leads nowhere', async () => {
    const links = await guest.runOk('ls /sys/class/net; ip route show default');
    assert.equal(links, 'lo\nnode0\ndefault dev node0 scope link linkdown \n');
  });

  test('tells outputs, exit codes and slow commands apart, several at a time', async () => {
    assert.deepEqual(await guest.run('echo out; echo "grüße" >&2; exit 7'), {
      code: 7,
      stdout: 'out\n',
      stderr: 'grüße\n',
    });
    const slow = guest.run('echo begun; sleep 600', { timeoutMs: 15_000 });
    const numbers = await Promise.all([1, 2, 3].map((n) => guest.runOk(`echo ${n}`)));
    assert.deepEqual(numbers, ['1\n', '2\n', '3\n']);
    await assert.rejects(slow, /took too long in the guest: echo begun; sleep 600\nbegun/);
    assert.equal((await guest.run('pgrep --full "sleep 600"')).code, 1, 'a slow command is ended');
    const big = await guest.runOk('head --bytes 3000000 /dev/zero | tr "\\0" x');
    assert.equal(big.length, 3_000_000);
    await assert.rejects(guest.runOk('echo no >&2; false'), /in the guest: .*: exit code 1: no/);
  });

  test('has the files it was given, read-only', async () => {
    assert.equal(await guest.runOk('cat /files/notes/greeting'), 'hello\n');
    assert.equal(
      await guest.runOk('cat /files/notes/package.json'),
      await readFile(resolve(repoRoot, 'package.json'), 'utf8'),
    );
    assert.match((await guest.run('touch /files/x')).stderr, /Read-only file system/);
  });

  test('runs a container in a scope of systemd', async () => {
    await guest.startContainerd();
    await guest.runOk(
      `ctr -n k8s.io run --detach --runc-systemd-cgroup --cgroup lab.slice:lab:c1 --memory-limit 33554432 ${BUSYBOX_IMAGE} c1 sh -c 'echo $$; trap exit TERM; sleep 600 & wait'`,
    );
    const scope = '/sys/fs/cgroup/lab.slice/lab-c1.scope';
    const seen = await guest.runOk(
      `systemctl is-active lab-c1.scope; cat ${scope}/memory.max ${scope}/memory.pressure`,
    );
    assert.match(seen, /^active\n33554432\nsome avg10=/);
    await guest.runOk('ctr -n k8s.io tasks kill --signal KILL c1');
  });

  for (const form of ['release', 'bundle'] as const) {
    test(`runs the kubelet (${form}) as a service: healthy on cgroup v2 with the sample configuration`, async () => {
      await guest.installKubelet({ form, flags: ['--v=3'] });
      await guest.startKubelet();
      const health = await guest.runOk('curl --silent --fail http://127.0.0.1:10248/healthz?verbose');
      assert.match(health, /\[\+\]container-runtime ok\n.*healthz check passed/s);
      const token = '"Authorization: Bearer $(cat /var/lib/kubelet/server-token)"';
      const shown = await guest.runOk(`curl --silent --fail --insecure -H ${token} https://127.0.0.1:10250/configz`);
      const configz = JSON.parse(shown) as { kubeletconfig: Record<string, unknown> };
      assert.equal(configz.kubeletconfig['failCgroupV1'], true);
      assert.equal(configz.kubeletconfig['cgroupDriver'], 'cgroupfs');
      assert.match(await guest.runOk('tr "\\0" " " < /proc/$(systemctl show -P MainPID kubelet)/cmdline'), / --v=3 /);
      await guest.runOk('systemctl stop kubelet');
      assert.equal((await guest.runOk('systemctl show -P Result kubelet')).trim(), 'success');
      await eventually('the journal has come out of the guest', async () =>
        /kubelet\[\d+\]: .*Kubelet is stopping/.test(await readFile(guest.journalLog, 'utf8')) ? true : undefined,
      );
    });
  }

  test('says at once why a kubelet does not start', async () => {
    await guest.installKubelet({ form: 'bundle', config: { maxPods: -1 } });
    await assert.rejects(guest.startKubelet(), /not healthy after .*maxPods/s);
    await guest.runOk('systemctl stop kubelet');
    await assert.rejects(guest.installKubelet({ flags: ['--node-labels=a b'] }), /split it at the space/);
  });
});
