/** The files by which people reach the local API: one kubeconfig for each role, for root only. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '../base/errno.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';

export interface KubeconfigRequest {
  readonly directory: string;
  /** `https://127.0.0.1:10260`. */
  readonly server: string;
  /** PEM of the authority that signed the server's certificate. */
  readonly authority: string;
  readonly tokens: { readonly full: string; readonly readOnly: string };
  readonly nodeName: string;
}

export interface KubeconfigFiles {
  readonly full: string;
  readonly readOnly: string;
}

const ROOT_ONLY = 0o600;

export const kubeconfigFiles = (directory: string): KubeconfigFiles => ({
  full: join(directory, 'kubeconfig'),
  readOnly: join(directory, 'kubeconfig.read-only'),
});

export async function writeKubeconfigs(request: KubeconfigRequest): Promise<KubeconfigFiles> {
  const files = kubeconfigFiles(request.directory);
  await keep(files.full, contentOf(request, 'administrator', request.tokens.full));
  await keep(files.readOnly, contentOf(request, 'reader', request.tokens.readOnly));
  return files;
}

/** A file that is right already stays: the disk may be full. */
async function keep(file: string, content: string): Promise<void> {
  const found = await readFile(file, 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (found !== content) {
    await writeFileAtomically(file, content, { mode: ROOT_ONLY, directoryMode: 0o700, durable: true });
  }
}

/** JSON is YAML. */
function contentOf({ server, authority, nodeName }: KubeconfigRequest, user: string, token: string): string {
  const name = `local-${nodeName}`;
  const data = Buffer.from(authority, 'utf8').toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': data } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name, context: { cluster: name, user, namespace: 'default' } }],
    'current-context': name,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
