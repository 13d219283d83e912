import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type ClusterPki, createClusterPki, type KeyPair } from './pki.ts';

const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

describe('the PKI of a cluster', () => {
  let dir: string;
  let pki: ClusterPki;

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'pki-'));
    pki = await createClusterPki({ dir, serverNames: ['kubernetes.default.svc', '192.0.2.10'] });
  });
  after(() => rm(dir, { recursive: true, force: true }));

  const read = async (pair: KeyPair) => new X509Certificate(await readFile(pair.cert));

  const clients: readonly { pair: () => KeyPair | Promise<KeyPair>; subject: string }[] = [
    { pair: () => pki.admin, subject: 'O=system:masters\nCN=kubernetes-admin' },
    { pair: () => pki.kubeletClient, subject: 'O=system:masters\nCN=kube-apiserver-kubelet-client' },
    { pair: () => pki.controllerManager, subject: 'CN=system:kube-controller-manager' },
    { pair: () => pki.scheduler, subject: 'CN=system:kube-scheduler' },
    { pair: () => pki.issueNode('node-1'), subject: 'O=system:nodes\nCN=system:node:node-1' },
  ];
  for (const { pair, subject } of clients) {
    test(`signs a client certificate for ${subject.replaceAll('\n', ', ')}`, async () => {
      const cert = await read(await pair());
      assert.equal(cert.subject, subject);
      assert.deepEqual(cert.keyUsage, [CLIENT_AUTH]);
      assert.equal(cert.ca, false);
      assert.ok(cert.verify((await read(pki.ca)).publicKey), 'not signed by the cluster CA');
    });
  }

  test('the serving certificate names every address of the API server', async () => {
    const cert = await read(pki.apiServer);
    assert.deepEqual(cert.keyUsage, [SERVER_AUTH]);
    assert.equal(cert.checkHost('kubernetes.default.svc'), 'kubernetes.default.svc');
    assert.equal(cert.checkIP('192.0.2.10'), '192.0.2.10');
    assert.equal(cert.checkIP('192.0.2.11'), undefined);
  });

  test('the front proxy has an authority of its own', async () => {
    const cert = await read(pki.frontProxyClient);
    assert.ok(cert.verify((await read(pki.frontProxyCa)).publicKey));
    assert.ok(!cert.verify((await read(pki.ca)).publicKey));
    assert.ok((await read(pki.frontProxyCa)).ca);
  });

  test('a certificate can serve and be a client at once, under its own name', async () => {
    const cert = await read(
      await pki.ca.issue({ file: 'both', usage: 'both', commonName: 'a/b+c', names: ['a.example'] }),
    );
    assert.equal(cert.subject, 'CN=a/b\\+c');
    assert.deepEqual(cert.keyUsage, [SERVER_AUTH, CLIENT_AUTH]);
  });

  test('a name that openssl refuses is an error that says so', async () => {
    await assert.rejects(
      pki.ca.issue({ file: 'bad', usage: 'client', commonName: 'x'.repeat(100) }),
      /ended with 1:.*string too long/s,
    );
  });
});
