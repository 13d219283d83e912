/** A signer as a test needs it: it answers requests for pod certificates with OpenSSL. */
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { formatTimestamp } from '../../src/api/timestamp.ts';
import type { Api, ApiObject } from '../lab/cluster/api.ts';

export interface Authority {
  /** PEM. */
  readonly certificate: string;
  /** The leaf for the key of a PKCS #10 request (DER). */
  issue(request: Buffer, name: string): Promise<X509Certificate>;
}

const openssl = (directory: string, ...args: readonly string[]) =>
  execFileSync('openssl', args, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] });

export async function createAuthority(t: TestContext, name: string): Promise<Authority> {
  const directory = await mkdtemp(join(tmpdir(), 'signer-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'ca.key'];
  openssl(directory, 'req', '-x509', ...key, '-out', 'ca.crt', '-subj', `/CN=${name}`, '-days', '2');
  return {
    certificate: await readFile(join(directory, 'ca.crt'), 'utf8'),
    issue: async (request, subject) => {
      await writeFile(join(directory, 'leaf.der'), request);
      // The request itself has no name and no requests: the signer decides.
      openssl(directory, 'req', '-inform', 'DER', '-in', 'leaf.der', '-out', 'leaf.csr');
      const sign = ['-req', '-in', 'leaf.csr', '-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial'];
      openssl(
        directory,
        'x509',
        ...sign,
        '-set_serial',
        String(process.hrtime.bigint()),
        '-days',
        '1',
        '-out',
        'leaf.crt',
        '-subj',
        `/CN=${subject}`,
      );
      return new X509Certificate(await readFile(join(directory, 'leaf.crt')));
    },
  };
}

const REQUESTS = '/apis/certificates.k8s.io/v1beta1';
const TEN_MINUTES = 600_000;

/** Answers the request as its signer: with a certificate, or with a refusal. */
export async function answerRequest(api: Api, request: ApiObject, authority: Authority | 'deny'): Promise<void> {
  const { name, namespace } = request.metadata ?? {};
  const path = `${REQUESTS}/namespaces/${String(namespace)}/podcertificaterequests/${name}/status`;
  const condition = {
    status: 'True',
    reason: 'Test',
    message: 'as the test wants',
    lastTransitionTime: formatTimestamp(Date.now()),
  };
  const status =
    authority === 'deny'
      ? { conditions: [{ ...condition, type: 'Denied' }] }
      : { conditions: [{ ...condition, type: 'Issued' }], ...(await issuedFor(request, authority)) };
  const answer = await api.request(path, { method: 'PUT', body: { ...request, status } });
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
}

async function issuedFor({ spec }: ApiObject, authority: Authority) {
  const leaf = await authority.issue(
    Buffer.from(String(spec?.['stubPKCS10Request']), 'base64'),
    String(spec?.['podName']),
  );
  const [from, to] = [leaf.validFromDate.getTime(), leaf.validToDate.getTime()];
  return {
    certificateChain: leaf.toString(),
    notBefore: formatTimestamp(from),
    notAfter: formatTimestamp(to),
    beginRefreshAt: formatTimestamp(to - TEN_MINUTES),
  };
}
