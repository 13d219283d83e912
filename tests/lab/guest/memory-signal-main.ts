/**
 * Eviction by what is really available (`--eviction-memory-signal=available`) on a kernel that reports when processes wait for memory: files that
 * pods read cost no pod, however often the readers wait; memory that can not be dropped does. In a guest of its own, by `make pressure`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { busyboxImage, IMAGE_PACKAGES, pauseImage } from '../../../tools/machine/images.ts';
import { makeImage } from '../../../tools/machine/oci/image.ts';
import { ensurePackages } from '../../../tools/machine/packages.ts';
import { lab } from '../lab.ts';
import type { Guest } from './guest.ts';
import { container, pod } from './pods.ts';

const LOCAL_API = 'https://127.0.0.1:10260/api/v1/namespaces/default/pods';
const TOKEN = '/var/lib/kubelet/local-api/administrator.token';
const SLOW = { timeoutMs: 600_000 };
/** Of a machine with 1536 Mi, in which the system itself takes some hundred. */
const THRESHOLD_MI = 800;

const MEMORY_SIGNAL_CONFIG = {
  evictionHard: { 'memory.available': `${THRESHOLD_MI}Mi` },
  evictionPressureTransitionPeriod: '5s',
  kernelMemcgNotification: true,
};
const MEMORY_SIGNAL_FLAGS = ['--eviction-memory-signal=available', '--v=4'];
/** Static pods are never evicted: these come from the API of the node itself. */
const withLocalApi = 'echo KUBELET_TS_LOCAL_API=true >> /etc/default/kubelet';

const create = (pod: object) => `until [ -s ${TOKEN} ]; do sleep 0.5; done
until curl --silent --insecure --fail --output /dev/null -H "Authorization: Bearer $(cat ${TOKEN})" -H 'Content-Type: application/json' --data-binary @- ${LOCAL_API} <<'POD'
${JSON.stringify(pod)}
POD
do sleep 1; done\n`;
const seen = (text: string) => `journalctl --unit kubelet --no-pager | grep -q '${text}'`;

async function countsOnlyWhatCannotBeDropped(guest: Guest): Promise<void> {
  const mounts = (one: object, name: string) => ({ ...one, volumeMounts: [{ name, mountPath: `/${name}` }] });
  // Files with holes: read as any others, and kept in the page cache, without a disk of that size.
  const stream = 'truncate -s 3200M /files/large; cat /files/large > /dev/null; echo up';
  const hot = 'truncate -s 600M /files/hot; while :; do cat /files/hot > /dev/null; sleep 2; done';
  // A reader that waits for memory; not for ever, since that costs an emulated processor much.
  const narrow =
    'truncate -s 400M /files/narrow; i=0; while [ $i -lt 5 ]; do cat /files/narrow > /dev/null; i=$((i+1)); done; exec sleep 100000';
  const reader = pod('reader', {
    containers: [
      mounts(container('wide', `${stream}; ${hot}`), 'files'),
      mounts(container('narrow', narrow, { memory: '24Mi' }), 'files'),
    ],
    volumes: [{ name: 'files', emptyDir: {} }],
  });
  // What counts as free by the working set.
  const idleMi = `$(( $(awk '/^(MemFree|Inactive\\(file\\)):/ {sum += $2} END {print sum}' /proc/meminfo) / 1024 ))`;
  await guest.runOk(
    `${create(reader)}
     until ${seen('Eviction manager: processes wait for memory')}; do sleep 2; done
     until [ ${idleMi} -lt ${THRESHOLD_MI - 20} ]; do sleep 2; done
     sleep 12`,
    SLOW,
  );
  const [decisions = '', memory = ''] = (
    await guest.runOk(
      `journalctl --unit kubelet --no-pager | grep 'Eviction manager: decision'; echo ===; cat /proc/meminfo`,
      SLOW,
    )
  ).split('===\n');
  assert.equal(decisions, '', `page cache alone costs no pod:\n${memory}`);
  // Slowly: the machine must not run out of memory before anyone can act.
  const grow = 'i=0; while [ $i -lt 35 ]; do dd if=/dev/zero of=/memory/$i bs=1M count=16; i=$((i+1)); sleep 0.3; done';
  const hog = pod('hog', {
    containers: [mounts(container('c', `${grow}; sleep 100000`), 'memory')],
    volumes: [{ name: 'memory', emptyDir: { medium: 'Memory' } }],
  });
  const text = await guest.runOk(
    `${create(hog)}until ${seen('Eviction manager: decision')}; do sleep 3; done
     journalctl --unit kubelet --no-pager | grep -c 'Eviction manager: decision'
     journalctl --unit kubelet --no-pager | grep -o '"\\?Evicting pod"\\? .*'`,
    SLOW,
  );
  assert.match(text, /^1\n/, text);
  assert.match(text, /pod="default\/hog".*The node was low on resource: memory\. Threshold quantity: 800Mi/);
}

test('files that pods read cost no pod, memory does, and the kernel reports that processes wait for it', async (t) => {
  await ensurePackages(IMAGE_PACKAGES, console.error);
  const images = [makeImage(await pauseImage()), makeImage(await busyboxImage())];
  await using guest = await lab.guest({ test: t, images });
  await guest.startContainerd();
  const config = { cgroupDriver: 'systemd', readOnlyPort: 10255, ...MEMORY_SIGNAL_CONFIG };
  await guest.installKubelet({ config, flags: MEMORY_SIGNAL_FLAGS });
  await guest.runOk(withLocalApi);
  await guest.startKubelet();
  await countsOnlyWhatCannotBeDropped(guest);
});
