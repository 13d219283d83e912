/** One guest with today's containerd, started twice: what is installed as a service is there again after a reboot. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUSYBOX_IMAGE, busyboxImage, IMAGE_PACKAGES, pauseImage } from '../../../tools/machine/images.ts';
import { makeImage } from '../../../tools/machine/oci/image.ts';
import { ensurePackages } from '../../../tools/machine/packages.ts';
import { lab } from '../lab.ts';

const HEALTH = 'http://127.0.0.1:10248/healthz?verbose';

test('containerd 2.4 and the kubelet come back after a reboot, and a power-off ends the guest', async (t) => {
  await ensurePackages(IMAGE_PACKAGES, console.error);
  const images = [makeImage(await pauseImage()), makeImage(await busyboxImage())];
  await using guest = await lab.guest({ test: t, runtime: 'containerd-2.4', images });
  await guest.startContainerd();
  assert.match(await guest.runOk('ctr version'), /Client:\s+Version: +v2\.4.*Server:\s+Version: +v2\.4/s);
  const output = await guest.runOk(
    `ctr -n k8s.io run --rm --runc-systemd-cgroup --cgroup lab.slice:lab:c1 ${BUSYBOX_IMAGE} c1 cat /proc/self/cgroup`,
  );
  assert.equal(output, '0::/lab.slice/lab-c1.scope\n');
  await guest.installKubelet();
  await guest.startKubelet();
  const boot = await guest.runOk('systemctl --quiet enable containerd kubelet; cat /proc/sys/kernel/random/boot_id');

  await guest.reboot();
  const health = await guest.runOk(`until curl --silent --fail ${HEALTH}; do sleep 0.5; done`, { timeoutMs: 120_000 });
  assert.match(health, /\[\+\]container-runtime ok/);
  assert.notEqual(await guest.runOk('cat /proc/sys/kernel/random/boot_id'), boot);
  assert.match(await guest.runOk('ctr -n k8s.io images ls -q'), new RegExp(BUSYBOX_IMAGE), 'the disk is the same');

  const off = guest.run('systemctl poweroff; sleep 600', { timeoutMs: 120_000 });
  await assert.rejects(off, /the guest's virtual machine ended \(exit code 0\)/);
  assert.deepEqual(await guest.exited, { code: 0, signal: null });
});
