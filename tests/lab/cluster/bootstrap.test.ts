/**
 * That the lab's cluster lets a new node in: a token, a request for a certificate, and the certificate that the cluster signs. Our
 * kubelet and the reference join in tests/cluster/certificates.test.ts.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { captureOk } from '../../../tools/machine/capture.ts';
import { lab } from '../lab.ts';
import type { ApiObject } from './api.ts';
import { createBootstrapToken } from './bootstrap.ts';
import type { Cluster } from './cluster.ts';
import { whyClusterIsSkipped } from './skip.ts';
import { waitForObject } from './wait.ts';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';

describe('a bootstrap token', () => {
  const bad: readonly [string, string][] = [
    ['short', '0123456789abcdef'],
    ['abcdef', 'short'],
    ['ABCDEF', '0123456789abcdef'],
    ['abcdef', '0123456789abcde.'],
  ];
  for (const [id, secret] of bad) {
    test(`can't be ${id}.${secret}`, () => assert.throws(() => createBootstrapToken(id, secret), /bootstrap token/));
  }
});

test('the cluster lets a node join with a token', {
  skip: whyClusterIsSkipped(process.env),
}, async (t) => {
  await using cluster = await lab.cluster({ kubelet: 'reference', join: 'token', nodeName: 'node-1', test: t });
  await t.test('as the reference kubelet did by itself', () => kubeletBootstrapped(cluster));
  await t.test('by a signed request for a client certificate', () => getsCertificate(cluster));
  await t.test('but is approved only for a name of a node', () => refusesOtherNames(cluster));
});

async function getsCertificate(cluster: Cluster): Promise<void> {
  const asBootstrapper = await cluster.apiAs({ token: cluster.bootstrapToken.token });
  assert.equal((await asBootstrapper.request('/api/v1/nodes')).status, 403, 'the token must be good for nothing else');
  const { key, signed } = await requestCertificate(cluster, 'node-7', 'O = system:nodes\nCN = system:node:node-7');
  const certificate = new X509Certificate(signed);
  assert.equal(certificate.subject, 'O=system:nodes\nCN=system:node:node-7');
  const cert = join(cluster.pki.dir, 'node-7-signed.crt');
  await writeFile(cert, signed);
  const asNode = await cluster.apiAs({ cert, key });
  const created = await asNode.request('/api/v1/nodes', { method: 'POST', body: { metadata: { name: 'node-7' } } });
  assert.equal(created.status, 201, created.text);
}

/** The approver leaves such a request alone. That it has seen it shows in a later request that it has answered. */
async function refusesOtherNames(cluster: Cluster): Promise<void> {
  await createRequest(cluster, 'boss', 'O = system:masters\nCN = boss');
  await requestCertificate(cluster, 'node-8', 'O = system:nodes\nCN = system:node:node-8');
  const { status } = await cluster.admin.get(`${REQUESTS}/boss`);
  assert.deepEqual(status, {});
}

async function kubeletBootstrapped(cluster: Cluster): Promise<void> {
  const kubeconfig = await readFile(join(cluster.node.kubeletDirectory, 'kubeconfig'), 'utf8');
  assert.match(kubeconfig, /kubelet-client-current\.pem/);
  const { items } = (await cluster.admin.get(REQUESTS)) as { items?: readonly ApiObject[] };
  const own = items?.find(({ spec }) => spec?.['username'] === `system:bootstrap:${cluster.bootstrapToken.id}`);
  assert.equal(own?.spec?.['signerName'], CLIENT_SIGNER);
}

/** What a kubelet does with its token, step by step: a key, a request signed with it, and the wait for the signed answer. */
async function requestCertificate(
  cluster: Cluster,
  name: string,
  subject: string,
): Promise<{ key: string; signed: string }> {
  const key = await createRequest(cluster, name, subject);
  const wanted = { collection: REQUESTS, name, what: 'signed' };
  const signed = await waitForObject(cluster.admin, wanted, (object) => certificateOf(object) !== undefined);
  return { key, signed: Buffer.from(certificateOf(signed) ?? '', 'base64').toString() };
}

async function createRequest(cluster: Cluster, name: string, subject: string): Promise<string> {
  const key = join(cluster.pki.dir, `${name}-own.key`);
  const config = join(cluster.pki.dir, `${name}-own.cnf`);
  await writeFile(config, `[req]\ndistinguished_name = subject\nprompt = no\n[subject]\n${subject}\n`);
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const { stdout: pem } = await captureOk(['openssl', 'req', '-new', ...ec, '-config', config, '-keyout', key]);
  const api = await cluster.apiAs({ token: cluster.bootstrapToken.token });
  const request = Buffer.from(pem).toString('base64');
  const usages = ['digital signature', 'client auth'];
  await api.create(REQUESTS, { metadata: { name }, spec: { request, signerName: CLIENT_SIGNER, usages } });
  return key;
}

function certificateOf(object: ApiObject): string | undefined {
  return (object.status as { certificate?: string } | undefined)?.certificate;
}
