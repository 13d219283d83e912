/** What goes wrong with certificates on a real node: no space for a new one, no control plane when one is due, two kubelets of one name. */
import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { stringify } from 'yaml';
import type { Cluster } from '../lab/cluster/cluster.ts';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { lab } from '../lab/lab.ts';
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
    (found) => found.serialNumber !== serialNumber && found.validToDate.getTime() > Date.now(),
    WAIT_MS,
  );
}

async function untilExpired(cluster: Cluster): Promise<void> {
  const { validToDate } = await currentOf(cluster, 'client');
  await new Promise((wait) => setTimeout(wait, validToDate.getTime() - Date.now() + 1_000));
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
    'a full disk, then one that can not be written: the old certificate stays, and a clear error',
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
      const { serialNumber } = await currentOf(cluster, 'client');
      await inside(cluster, 'mount -o remount,rw /var/lib/kubelet/pki');
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

  await t.test('the kubelet was away until the certificate had expired', async () => {
    await kubelet.kill();
    const { serialNumber } = await currentOf(cluster, 'client');
    await untilExpired(cluster);
    await kubelet.start();
    await untilRenewed(cluster, serialNumber);
    await cluster.waitUntilNodeReady();
  });

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
