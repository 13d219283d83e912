/**
 * Certificates from a real cluster: joining with a token, rotation of both certificates under requests and open sessions, denial, and
 * files that the reference kubelet and ours hand to each other.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Cluster } from '../lab/cluster/cluster.ts';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { waitForObject } from '../lab/cluster/wait.ts';
import { lab } from '../lab/lab.ts';
import { createSupplies } from '../lab/supplies.ts';
import { BUSYBOX } from '../node/pod-support.ts';
import {
  CLIENT_SIGNER,
  currentOf,
  NODE,
  OURS,
  pkiOf,
  REQUESTS,
  readCurrent,
  requestsOf,
  SERVING_SIGNER,
  type SigningRequest,
  until,
} from './certificates-support.ts';

/** `make certificates`: more rotations, and more requests a second. */
const LONG = process.env['LONG'] === '1';
/** A certificate is renewed between 70 and 90 % of this. */
const LIFE_SECONDS = LONG ? 120 : 40;
const ROTATIONS = LONG ? 5 : 1;
const REQUESTS_PER_SECOND = LONG ? 200 : 20;
const SESSIONS = LONG ? 20 : 6;
const skip = whyClusterIsSkipped(process.env);

/** Names with the dates taken out, and what of a PEM file is in which order. */
async function layout(cluster: Cluster): Promise<readonly string[]> {
  const names = (await readdir(pkiOf(cluster))).sort();
  const client = names.filter((name) => name.startsWith('kubelet-client'));
  const { name: target, pem } = await readCurrent(cluster, 'client');
  const blocks = pem.match(/BEGIN [A-Z ]+/g) ?? [];
  return [
    ...client.map((name) => name.replace(/\d{4}(-\d\d){5}/, 'DATE')),
    target.replace(/\d{4}(-\d\d){5}/, 'DATE'),
    ...blocks,
  ];
}

test('a node joins with a token, as the reference does', { skip }, async (t) => {
  await using cluster = await lab.cluster({
    kubelet: 'none',
    join: 'token',
    nodeName: NODE,
    test: t,
    config: { rotateCertificates: true },
  });
  const { kubelet } = cluster.node;
  const reference = await createSupplies(process.env).referenceKubelet();
  const kubeconfig = join(cluster.node.kubeletDirectory, 'kubeconfig');
  const join1 = async (binary: string) => {
    await kubelet.start({ binary, ...cluster.kubeletSettings });
    await cluster.waitUntilNodeReady();
    return {
      text: await readFile(kubeconfig, 'utf8'),
      files: await layout(cluster),
      requests: await requestsOf(cluster, CLIENT_SIGNER),
    };
  };
  const theirs = await join1(reference);
  await kubelet.stop();
  await cluster.kubectl('delete', 'node', NODE);
  await cluster.kubectl('delete', 'csr', '--all');
  await rm(kubeconfig);
  await rm(pkiOf(cluster), { recursive: true });

  await t.test('files and requests are the same', async () => {
    const ours = await join1(OURS);
    assert.equal(ours.text, theirs.text);
    assert.deepEqual(ours.files, theirs.files);
    const facts = ({ spec }: SigningRequest) => [spec.signerName, spec.username, spec.usages];
    assert.deepEqual(ours.requests.map(facts), theirs.requests.map(facts));
    assert.equal((await currentOf(cluster, 'client')).subject, `O=system:nodes\nCN=system:node:${NODE}`);
  });
  await t.test('a restart needs no second request, by either kubelet', async () => {
    for (const binary of [OURS, reference, OURS]) {
      await kubelet.stop();
      await kubelet.start({ binary, ...cluster.kubeletSettings });
      await cluster.waitUntilNodeReady();
    }
    assert.equal((await requestsOf(cluster, CLIENT_SIGNER)).length, 1);
  });
});

test('both certificates are renewed under requests and open sessions', { skip }, async (t) => {
  await using cluster = await lab.cluster({
    join: 'token',
    nodeName: NODE,
    test: t,
    config: { rotateCertificates: true, serverTLSBootstrap: true },
    controlPlaneFlags: { 'kube-controller-manager': [`--cluster-signing-duration=${LIFE_SECONDS}s`] },
  });
  const address = `https://${cluster.node.address}:10250`;
  const shown = async () => {
    const answer = await cluster.node.exec(['openssl', 's_client', '-connect', `${cluster.node.address}:10250`], {
      input: '',
    });
    return new X509Certificate(
      /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(answer.stdout)?.[0] ?? '',
    );
  };

  await t.test(
    'a serving request waits for approval; until then a self-signed certificate serves, and an event says so',
    async () => {
      const [request] = await until(
        'a serving request',
        async () => await requestsOf(cluster, SERVING_SIGNER),
        (found) => found.length > 0,
      );
      assert.deepEqual(request?.spec.usages, ['digital signature', 'server auth']);
      assert.equal(request?.spec.username, `system:node:${NODE}`);
      assert.match((await shown()).issuer, /-ca@/);
      await until(
        'the event',
        async () =>
          await cluster.kubectl(
            'get',
            'events',
            '-A',
            '-o',
            'name',
            '--field-selector',
            'reason=ServingCertificatePending',
          ),
        (text) => text.trim() !== '',
      );
    },
  );
  await using _approving = approveServing(cluster);
  await t.test('approved, it is shown without a restart', async () => {
    const serving = await until('the signed certificate', shown, ({ issuer }) => !issuer.includes('-ca@'));
    assert.match(serving.subjectAltName ?? '', new RegExp(`IP Address:${cluster.node.address}`));
    await cluster.kubectl('run', 'web', `--image=${BUSYBOX}`, '--restart=Never', '--command', '--', 'sleep', '1000');
    await cluster.kubectl('wait', '--for=condition=Ready', 'pod/web', '--timeout=180s');
  });
  await t.test('a rotation of each loses no request and no session', async () => {
    const load = requestLoad(cluster, address);
    const requests = (await requestsOf(cluster, CLIENT_SIGNER)).length;
    const began = Date.now();
    for (let round = 0; round < ROTATIONS; round += 1) {
      const sessions = Array.from({ length: SESSIONS }, () =>
        cluster.runKubectl(['exec', 'web', '--', 'sh', '-c', `sleep ${LIFE_SECONDS}; echo over`]),
      );
      const first = { client: await currentOf(cluster, 'client'), server: await currentOf(cluster, 'server') };
      for (const kind of ['client', 'server'] as const) {
        const isNew = ({ serialNumber }: X509Certificate) => serialNumber !== first[kind].serialNumber;
        await until(
          `a new ${kind} certificate`,
          async () => await currentOf(cluster, kind),
          isNew,
          4_000 * LIFE_SECONDS,
        );
      }
      const ended = await Promise.all(sessions);
      assert.deepEqual([...new Set(ended.map(({ code, stdout }) => `${code} ${stdout.trim()}`))], ['0 over']);
    }
    const { sent, failed, perSecond } = await load.stop();
    t.diagnostic(`${sent} requests, ${perSecond} a second`);
    assert.deepEqual(failed, []);
    assert.ok(sent > 100, `${sent} requests were sent`);
    // Not more of them than fit into 70 % of their lives each, although they are dated back.
    const most = 1 + (Date.now() - began) / (700 * LIFE_SECONDS);
    const made = (await requestsOf(cluster, CLIENT_SIGNER)).length - requests;
    assert.ok(made <= most, `${made} requests, at most ${most} are due`);
    // As the reference does it: the first has a name that follows from its lasting key, renewals have new keys and names.
    const names = (await requestsOf(cluster, CLIENT_SIGNER)).map(({ metadata }) =>
      metadata.name.replace(/csr-.*/, 'csr-'),
    );
    assert.deepEqual([...new Set(names)].sort(), ['csr-', 'node-csr-']);
    assert.equal(names.filter((name) => name === 'node-csr-').length, 1);
  });
  await t.test('metrics tell how long they last', async () => {
    const metrics = await cluster.kubectl('get', '--raw', `/api/v1/nodes/${NODE}/proxy/metrics`);
    for (const name of ['client_ttl_seconds', 'server_ttl_seconds']) {
      const seconds = Number(new RegExp(`^kubelet_certificate_manager_${name} (\\S+)$`, 'm').exec(metrics)?.[1]);
      assert.ok(seconds > -LIFE_SECONDS && seconds <= LIFE_SECONDS, `${name} ${seconds}`);
    }
    assert.match(metrics, /^kubelet_certificate_manager_server_rotation_seconds_count [1-9]/m);
  });
});

test('a denied request is reported, and the kubelet goes on with its static pods', { skip }, async (t) => {
  await using cluster = await lab.cluster({
    kubelet: 'none',
    join: 'token',
    nodeName: NODE,
    test: t,
    controlPlaneFlags: { 'kube-controller-manager': ['--controllers=*,-csrapproving'] },
  });
  const { kubelet } = cluster.node;
  await kubelet.start({ binary: OURS, ...cluster.kubeletSettings });
  const [request] = await until(
    'a request',
    async () => await requestsOf(cluster, CLIENT_SIGNER),
    (found) => found.length > 0,
  );
  const name = request?.metadata.name ?? '';
  assert.match(name, /^node-csr-/);
  await t.test('after a restart the same request is waited for', async () => {
    await kubelet.kill();
    await kubelet.start({ binary: OURS, ...cluster.kubeletSettings });
    await until(
      'it waits again',
      () => Promise.resolve(kubelet.logTail(200)),
      (log) => log.includes(name),
    );
    assert.equal((await requestsOf(cluster, CLIENT_SIGNER)).length, 1);
  });
  await t.test('denied, it says so and stays alive', async () => {
    await cluster.kubectl('certificate', 'deny', name);
    await until(
      'the log',
      () => Promise.resolve(kubelet.logTail(200)),
      (log) => log.includes('certificate signing request is denied'),
    );
    assert.ok(kubelet.isRunning());
    // In the meantime the node was not registered, and there was no attempt that can only fail.
    const log = kubelet.logTail(2_000);
    assert.equal(log.split('Node will be registered when its client certificate is issued').length, 2, log);
    assert.doesNotMatch(log, /to register node/);
  });
  await t.test('approved after all, the node joins', async () => {
    await cluster.kubectl('delete', 'csr', name);
    await kubelet.kill();
    await kubelet.start({ binary: OURS, ...cluster.kubeletSettings });
    await waitForObject(cluster.admin, { collection: REQUESTS, name, what: 'there' }, () => true);
    await cluster.kubectl('certificate', 'approve', name);
    await cluster.waitUntilNodeReady();
  });
});

/** Approves each request of the node's server, as an operator's controller does. */
function approveServing(cluster: Cluster): AsyncDisposable {
  let goes = true;
  const running = (async () => {
    while (goes) {
      for (const { metadata, status } of await requestsOf(cluster, SERVING_SIGNER)) {
        if ((status.conditions ?? []).length === 0) await cluster.kubectl('certificate', 'approve', metadata.name);
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  })();
  return {
    [Symbol.asyncDispose]: async () => {
      goes = false;
      await running;
    },
  };
}

/** Requests to the kubelet through the API server, which need both certificates: so many a second as long as the machine keeps up, at most 100 at once. */
function requestLoad(
  cluster: Cluster,
  address: string,
): { stop(): Promise<{ sent: number; failed: readonly string[]; perSecond: number }> } {
  const began = performance.now();
  let sent = 0;
  const failed: string[] = [];
  const open = new Set<Promise<void>>();
  const ask = async () => {
    const answer = await cluster.admin.request(`/api/v1/nodes/${NODE}/proxy/pods`);
    sent += 1;
    if (answer.status !== 200) failed.push(`${address}: ${answer.status} ${answer.text.slice(0, 200)}`);
  };
  const timer = setInterval(() => {
    for (let count = 0; count < REQUESTS_PER_SECOND / 10 && open.size < 100; count += 1) {
      const one = ask().catch((error: unknown) => void failed.push(String(error)));
      open.add(one);
      void one.finally(() => open.delete(one));
    }
  }, 100);
  return {
    stop: async () => {
      clearInterval(timer);
      await Promise.all(open);
      return { sent, failed, perSecond: Math.round(sent / ((performance.now() - began) / 1000)) };
    },
  };
}
