/**
 * One guest with today's containerd, started twice: a pod on cgroup v2 with the limits it asked for, and after a reboot everything
 * that is installed as a service is there again, the pod too.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUSYBOX_IMAGE, busyboxImage, IMAGE_PACKAGES, pauseImage } from '../../../tools/machine/images.ts';
import { makeImage } from '../../../tools/machine/oci/image.ts';
import { ensurePackages } from '../../../tools/machine/packages.ts';
import { lab } from '../lab.ts';

const HEALTH = 'http://127.0.0.1:10248/healthz?verbose';
const MANIFEST = '/etc/kubernetes/manifests/limited.json';
const LOGS = '/var/log/pods/default_limited-*/main';

/** No network card in a guest, so no pod network either: the pod uses the host's. */
const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'limited' },
  spec: {
    hostNetwork: true,
    terminationGracePeriodSeconds: 2,
    containers: [
      {
        name: 'main',
        image: BUSYBOX_IMAGE,
        command: ['sh', '-c', 'echo up; trap "exit 0" TERM; sleep 3600 & wait'],
        resources: { requests: { cpu: '100m', memory: '16Mi' }, limits: { cpu: '500m', memory: '64Mi' } },
      },
    ],
  },
};

const untilLogged = (file: string) => `until grep -qs up ${LOGS}/${file}; do sleep 0.5; done`;
const podCgroup = '/sys/fs/cgroup/kubepods/burstable/pod*';

test('a pod has its limits on cgroup v2 and comes back with its services after a reboot', async (t) => {
  await ensurePackages(IMAGE_PACKAGES, console.error);
  const images = [makeImage(await pauseImage()), makeImage(await busyboxImage())];
  await using guest = await lab.guest({ test: t, runtime: 'containerd-2.4', images });
  await guest.runOk('sed -i "s/SystemdCgroup = true/SystemdCgroup = false/" /etc/containerd/config.toml');
  await guest.startContainerd();
  assert.match(await guest.runOk('ctr version'), /Client:\s+Version: +v2\.4.*Server:\s+Version: +v2\.4/s);
  await guest.installKubelet({ config: { cgroupDriver: 'cgroupfs', podPidsLimit: 100 } });
  await guest.startKubelet();
  await guest.runOk(`cat > ${MANIFEST} <<'POD'\n${JSON.stringify(POD)}\nPOD\n${untilLogged('0.log')}`, {
    timeoutMs: 600_000,
  });

  const limits = await guest.runOk(`cd ${podCgroup}; cat memory.max cpu.max cpu.weight pids.max`);
  assert.match(limits, /^67108864\n50000 100000\n\d+\n100\n$/);
  const inContainer = await guest.runOk(`cat ${podCgroup}/*/memory.max`);
  assert.match(inContainer, /^67108864$/m, 'the container itself is limited too');
  const boot = await guest.runOk('systemctl --quiet enable containerd kubelet; cat /proc/sys/kernel/random/boot_id');

  await guest.reboot();
  const health = await guest.runOk(`until curl --silent --fail ${HEALTH}; do sleep 0.5; done`, { timeoutMs: 600_000 });
  assert.match(health, /\[\+\]container-runtime ok/);
  assert.notEqual(await guest.runOk('cat /proc/sys/kernel/random/boot_id'), boot);
  await guest.runOk(untilLogged('1.log'), { timeoutMs: 600_000 });

  await guest.runOk(`rm ${MANIFEST}; while compgen -G '${podCgroup}' > /dev/null; do sleep 0.5; done`, {
    timeoutMs: 600_000,
  });
  const off = guest.run('systemctl poweroff; sleep 600', { timeoutMs: 600_000 });
  await assert.rejects(off, /the guest's virtual machine ended \(exit code 0\)/);
  assert.deepEqual(await guest.exited, { code: 0, signal: null });
});
