/** Versions, cipher suites, curves and kinds of keys of the server's port, tried with OpenSSL's client: another implementation than ours would do as well. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { ensurePackages } from '../../tools/machine/packages.ts';
import { type KubeletProcess, runKubelet, startKubelet, temporaryDirectory } from './kubelet.ts';

/** Whether a handshake succeeds, with which suite. */
function shake({ serverPort }: KubeletProcess, ...args: readonly string[]): string | undefined {
  const { stdout } = spawnSync('openssl', ['s_client', '-connect', `127.0.0.1:${serverPort}`, ...args], {
    encoding: 'utf8',
    input: '',
  });
  const [, version, suite] = /^New, (TLSv[\d.]+), Cipher is (\S+)$/m.exec(stdout) ?? [];
  const [, protocol = version] = /^ +Protocol +: (\S+)$/m.exec(stdout) ?? [];
  return suite === undefined || suite === '(NONE)' ? undefined : `${protocol} ${suite}`;
}

function makePair(directory: string, name: string, ...key: readonly string[]): Readonly<Record<string, string>> {
  const pair = { tlsCertFile: join(directory, `${name}.crt`), tlsPrivateKeyFile: join(directory, `${name}.key`) };
  const files = ['-keyout', pair.tlsPrivateKeyFile, '-out', pair.tlsCertFile];
  execFileSync('openssl', ['req', '-x509', '-nodes', '-subj', '/CN=node', '-days', '9', ...key, ...files], {
    stdio: 'ignore',
  });
  return pair;
}

const WITH_TLS12 = ['-tls1_2'];

describe('TLS of the server', () => {
  before(() => ensurePackages(['openssl'], console.error));

  it('has nothing below the smallest version', async () => {
    await using kubelet = await startKubelet({ config: { tlsMinVersion: 'VersionTLS13' } });
    await kubelet.serving();
    assert.match(shake(kubelet) ?? '', /^TLSv1\.3 /);
    assert.equal(shake(kubelet, ...WITH_TLS12), undefined);
  });

  it('has the suites and curves that were asked for, and keys of RSA from files', async () => {
    const directory = temporaryDirectory();
    const rsa = makePair(directory, 'rsa', '-newkey', 'rsa:2048');
    await using kubelet = await startKubelet({
      directory,
      config: {
        ...rsa,
        tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'],
        tlsCurvePreferences: [24],
      },
    });
    await kubelet.serving();
    const suite = (name: string) => shake(kubelet, ...WITH_TLS12, '-cipher', name);
    assert.equal(suite('ECDHE-RSA-AES128-GCM-SHA256'), 'TLSv1.2 ECDHE-RSA-AES128-GCM-SHA256');
    assert.equal(suite('ECDHE-RSA-AES256-GCM-SHA384'), undefined);
    assert.equal(suite('AES128-SHA'), undefined);
    assert.match(shake(kubelet, '-groups', 'P-384') ?? '', /^TLSv1\.3 /);
    assert.equal(shake(kubelet, '-groups', 'P-256:X25519'), undefined);
  });

  it('has keys of EC from files, and a clear error for files that are missing or do not belong together', async () => {
    const directory = temporaryDirectory();
    const ec = makePair(directory, 'ec', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1');
    const other = makePair(directory, 'other', '-newkey', 'rsa:2048');
    {
      await using kubelet = await startKubelet({ directory, config: ec });
      await kubelet.serving();
      assert.match(shake(kubelet, ...WITH_TLS12) ?? '', /^TLSv1\.2 ECDHE-ECDSA-/);
      assert.equal(shake(kubelet, '-tls1_1'), undefined);
    }
    const refused = await runKubelet({ config: { ...ec, tlsPrivateKeyFile: other['tlsPrivateKeyFile'] } });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /the key in \S+other\.key does not belong to the certificate in \S+ec\.crt/);
    rmSync(other['tlsCertFile'] ?? '');
    const missing = await runKubelet({ config: other });
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /other\.crt/);
    rmSync(directory, { recursive: true });
  });
});
