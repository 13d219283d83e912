/** Kubeconfig files. JSON is YAML, so no writer of our own is needed. */
import { writeFile } from 'node:fs/promises';
import type { KeyPair } from './pki.ts';

export type Credentials = KeyPair | { readonly token: string };

export interface KubeconfigRequest {
  readonly path: string;
  readonly server: string;
  /** Path of the authority that signed the server's certificate. */
  readonly ca: string;
  readonly credentials: Credentials;
}

export async function writeKubeconfig(request: KubeconfigRequest): Promise<string> {
  const { credentials } = request;
  const user =
    'token' in credentials
      ? { token: credentials.token }
      : { 'client-certificate': credentials.cert, 'client-key': credentials.key };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'lab', cluster: { server: request.server, 'certificate-authority': request.ca } }],
    users: [{ name: 'lab', user }],
    contexts: [{ name: 'lab', context: { cluster: 'lab', user: 'lab' } }],
    'current-context': 'lab',
  };
  await writeFile(request.path, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600 });
  return request.path;
}
