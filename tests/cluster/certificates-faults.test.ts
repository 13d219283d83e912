/** What goes wrong with certificates on a real node: no space or no permission for a new one, no control plane when one is due, two kubelets of one name. */
import assert from 'node:assert/strict';
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse, stringify } from 'yaml';
import type { Cluster } from '../lab/cluster/cluster.ts';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { lab } from '../lab/lab.ts';
import { makeSettableClock } from '../lab/settable-clock.ts';
import { BUSYBOX } from '../node/pod-support.ts';
import { CLIENT_SIGNER, currentOf, NODE, OURS, pkiOf, readCurrent, requestsOf, until } from './certificates-support.ts';

const LIFE_SECONDS = 20;
const WAIT_MS = 120_000;

async function inside(cluster: Cluster, script: string): Promise<void> {
  const { code, stderr } = await cluster.node.exec(['sh', '-ec', script]);
  assert.equal(code, 0, `${script}: ${stderr}`);
}

/** The next message of the kubelet with this text, which it has not written before. */
async function untilLogged(cluster: Cluster, text: RegExp): Promise<void> {
  await until(
    `the log has ${text}`,
    () => Promise.resolve(cluster.node.kubelet.logTail(100)),
    (log) => text.test(log),
    WAIT_MS,
  );
}

async function untilRenewed(cluster: Cluster, serialNumber: string): Promise<void> {
  await until(
    'another certificate, and a good one',
    async () => await currentOf(cluster, 'client'),
    // Not one that is due again at once, since it was written late: the next test would meet its renewal.
    (found) => found.serialNumber !== serialNumber && found.validToDate.getTime() > Date.now() + 500 * LIFE_SECONDS,
    WAIT_MS,
  );
}

async function untilExpired(cluster: Cluster): Promise<void> {
  const { validToDate } = await currentOf(cluster, 'client');
  await new Promise((wait) => setTimeout(wait, Math.max(validToDate.getTime() - Date.now() + 1_000, 0)));
}

/** From now on the bootstrap kubeconfig has no token: a program prints it. Answers the file in which the program notes each run. */
async function bootstrapByProgram(cluster: Cluster): Promise<string> {
  const flag = (cluster.kubeletSettings.flags ?? []).find((one) => one.startsWith('--bootstrap-kubeconfig='));
  const path = flag?.split('=')[1] ?? assert.fail('there is no bootstrap kubeconfig');
  const [command, runs] = [`${path}-login`, `${path}-runs`];
  const config = parse(await readFile(path, 'utf8')) as { users: [{ user: { token?: string; exec?: object } }] };
  const [{ user }] = config.users;
  const apiVersion = 'client.authentication.k8s.io/v1';
  const credential = JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token: user.token } });
  await writeFile(command, `#!/bin/sh\necho run >> ${runs}\ncat <<'END'\n${credential}\nEND\n`);
  await chmod(command, 0o755);
  config.users[0].user = { exec: { apiVersion, command, interactiveMode: 'Never' } };
  await writeFile(path, stringify(config));
  return runs;
}

const HOURS_2 = 7_200;

/** The kubelet's own clock, past the end of its certificate and then before its beginning, each time until it really has expired. */
async function clockJumps(cluster: Cluster, t: TestContext): Promise<void> {
  const { kubelet } = cluster.node;
  const clock = await makeSettableClock(cluster.node.world.directory);
  const born = () => cluster.kubectl('exec', 'web', '--', 'cat', '/tmp/born');
  const before = await born();
  await kubelet.stop();
  await kubelet.start({ env: clock.env });
  await cluster.waitUntilNodeReady();
  const { pid } = kubelet;
  for (const seconds of [HOURS_2, -HOURS_2]) {
    const { serialNumber } = await currentOf(cluster, 'client');
    const requests = (await requestsOf(cluster, CLIENT_SIGNER)).length;
    const began = performance.now();
    await clock.set(seconds);
    if (seconds > 0) await untilLogged(cluster, /Failed to obtain a certificate.*has expired/);
    await untilExpired(cluster);
    await clock.set(0);
    const corrected = performance.now();
    await untilRenewed(cluster, serialNumber);
    const after = await until(
      'it takes a command',
      () => born().catch(() => ''),
      (text) => text !== '',
      WAIT_MS,
    );
    assert.equal(after, before);
    await cluster.waitUntilNodeReady();
    assert.equal(kubelet.pid, pid);
    assert.ok(kubelet.isRunning());
    const made = (await requestsOf(cluster, CLIENT_SIGNER)).length - requests;
    const took = performance.now() - began;
    t.diagnostic(
      `${seconds} s: back ${Math.round(performance.now() - corrected)} ms after the clock was right, ${made} requests in ${Math.round(took)} ms`,
    );
    // Renewals are due every 14 s or later; a request that fails is followed by another after 2 s, 4 s and so on.
    assert.ok(made <= 6 + took / 4_000, `${made} requests in ${took} ms`);
  }
  await kubelet.stop();
  await kubelet.start({ env: {} });
  await cluster.waitUntilNodeReady();
}

test('a node gets over what keeps its certificate from being renewed', {
  skip: whyClusterIsSkipped(process.env),
}, async (t) => {
  await using cluster = await lab.cluster({
    kubelet: 'none',
    join: 'token',
    nodeName: NODE,
    test: t,
    config: { rotateCertificates: true },
    controlPlaneFlags: { 'kube-controller-manager': [`--cluster-signing-duration=${LIFE_SECONDS}s`] },
  });
  const { kubelet } = cluster.node;
  // A disk of its own for the certificates.
  await inside(
    cluster,
    'mkdir -p /var/lib/kubelet/pki; mount -t tmpfs -o size=256k,mode=755 tmpfs /var/lib/kubelet/pki',
  );
  await kubelet.start({ binary: OURS, ...cluster.kubeletSettings });
  await cluster.waitUntilNodeReady();

  await t.test(
    'a full disk, then one that may not be written: the old certificate stays, and a clear error',
    async () => {
      await inside(cluster, 'dd if=/dev/zero of=/var/lib/kubelet/pki/full bs=4k 2>/dev/null || true');
      const before = await readCurrent(cluster, 'client');
      await untilLogged(cluster, /Failed to obtain a certificate.*ENOSPC: no space left on device/);
      const requests = (await requestsOf(cluster, CLIENT_SIGNER)).length;
      assert.deepEqual(await readCurrent(cluster, 'client'), before);
      assert.deepEqual(
        (await readdir(pkiOf(cluster))).filter((name) => name.endsWith('.new')),
        [],
      );
      await inside(cluster, 'rm /var/lib/kubelet/pki/full; mount -o remount,ro /var/lib/kubelet/pki');
      await untilLogged(cluster, /Failed to obtain a certificate.*EROFS: read-only file system/);
      assert.deepEqual(await readCurrent(cluster, 'client'), before);
      // What stops root as well, for whom modes do not count.
      await inside(cluster, 'mount -o remount,rw /var/lib/kubelet/pki');
      const { code } = await cluster.node.exec(['chattr', '+i', '/var/lib/kubelet/pki']);
      if (code === 0) {
        await untilLogged(
          cluster,
          /Failed to obtain a certificate.*EPERM: operation not permitted, open '\/var\/lib\/kubelet\/pki\/kubelet-client-/,
        );
      } else t.diagnostic('missing permission was not tried: a tmpfs before Linux 6.6 has no immutable directories');
      assert.deepEqual(await readCurrent(cluster, 'client'), before);
      const { serialNumber } = await currentOf(cluster, 'client');
      if (code === 0) await inside(cluster, 'chattr -i /var/lib/kubelet/pki');
      await untilRenewed(cluster, serialNumber);
      t.diagnostic(`${(await requestsOf(cluster, CLIENT_SIGNER)).length - requests} more requests`);
      await cluster.waitUntilNodeReady();
      assert.ok(kubelet.isRunning());
    },
  );

  await t.test('the control plane is away from before the renewal until the certificate has expired', async () => {
    const { pid } = kubelet;
    await cluster.components['kube-apiserver'].stop();
    const { serialNumber } = await currentOf(cluster, 'client');
    await untilExpired(cluster);
    await cluster.components['kube-apiserver'].start();
    await untilRenewed(cluster, serialNumber);
    assert.equal(kubelet.pid, pid);
    assert.ok(kubelet.isRunning());
    await cluster.waitUntilNodeReady();
  });

  await t.test(
    'the kubelet was away until the certificate had expired: a program gives it the token to join again, and pods run on',
    async () => {
      const script = 'cat /proc/sys/kernel/random/uuid > /tmp/born; exec sleep 1000';
      await cluster.kubectl(
        'run',
        'web',
        `--image=${BUSYBOX}`,
        '--restart=Never',
        '--command',
        '--',
        'sh',
        '-c',
        script,
      );
      await cluster.kubectl('wait', '--for=condition=Ready', 'pod/web', '--timeout=120s');
      const born = () => cluster.kubectl('exec', 'web', '--', 'cat', '/tmp/born');
      const before = await born();
      await kubelet.kill();
      const runs = await bootstrapByProgram(cluster);
      const { serialNumber } = await currentOf(cluster, 'client');
      await untilExpired(cluster);
      const began = performance.now();
      await kubelet.start();
      const { pid } = kubelet;
      await untilRenewed(cluster, serialNumber);
      // The server may still have the node as Ready: it is back when it does something for the cluster.
      const after = await until(
        'it takes a command',
        () => born().catch(() => ''),
        (text) => text !== '',
        WAIT_MS,
      );
      t.diagnostic(`back after ${Math.round(performance.now() - began)} ms`);
      assert.equal(after, before);
      await cluster.waitUntilNodeReady();
      assert.match(await readFile(runs, 'utf8'), /^run\n/);
      assert.ok(kubelet.isRunning());
      assert.equal(kubelet.pid, pid);
    },
  );

  await t.test(
    'the clock is set ahead and back while the kubelet runs: pods run on, and the node is back',
    async () => {
      await clockJumps(cluster, t);
    },
  );

  await t.test('a second kubelet joins under the same name: each has a certificate of its own', async () => {
    const { world } = cluster.node;
    const file = join(world.directory, 'second.yaml');
    const config = {
      ...cluster.kubeletSettings.config,
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      containerRuntimeEndpoint: 'unix:///run/no-runtime.sock',
      healthzPort: 10348,
      port: 10350,
      registerNode: false,
      failCgroupV1: false,
      failSwapOn: false,
    };
    await writeFile(file, stringify(config));
    const flags = (cluster.kubeletSettings.flags ?? []).filter((flag) => !flag.startsWith('--kubeconfig='));
    const root = '/var/lib/second';
    const second = await world.start({
      name: 'second',
      argv: [
        OURS,
        ...[`--config=${file}`, `--root-dir=${root}`, `--cert-dir=${root}/pki`, `--kubeconfig=${root}/kubeconfig`],
        ...[...flags, `--hostname-override=${NODE}`],
      ],
    });
    const bootstraps = async () =>
      (await requestsOf(cluster, CLIENT_SIGNER)).filter(({ metadata }) => metadata.name.startsWith('node-csr-'));
    const before = (await bootstraps()).map(({ metadata }) => metadata.name);
    await until(
      'a request of the second that is answered',
      bootstraps,
      (found) =>
        found.some(({ metadata, status }) => !before.includes(metadata.name) && status.certificate !== undefined),
      WAIT_MS,
    );
    const path = `/proc/${world.anchorPid}/root${root}/pki`;
    await until(
      'its files',
      () => readdir(path),
      (names) => names.includes('kubelet-client-current.pem'),
      WAIT_MS,
    );
    await second.stop();
    const { serialNumber } = await currentOf(cluster, 'client');
    await untilRenewed(cluster, serialNumber);
    await cluster.waitUntilNodeReady();
  });
});
