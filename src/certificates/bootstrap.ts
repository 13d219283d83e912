/** Joining with a bootstrap kubeconfig: whether it is needed, and the kubeconfig that the node then has. */

import { X509Certificate } from 'node:crypto';
import { readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ifPathMissing } from '../base/errno.ts';
import { describeError } from '../base/errors.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';
import { loadKubeconfig } from '../kube/kubeconfig.ts';
import { readMaterial } from '../kube/pem-files.ts';
import { isKey, makeKey } from './key.ts';
import type { LastingKey } from './manager.ts';
import { TEMPORARY_KEY } from './rules/file-names.ts';
import { renderKubeconfig } from './rules/written-kubeconfig.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Why the kubeconfig can't be used with a certificate now; undefined where it can. */
export async function kubeconfigProblem(
  path: string,
  environment: Environment,
  now: number,
): Promise<string | undefined> {
  try {
    const { access } = await loadKubeconfig({ path, environment });
    const { cert } = await readMaterial(access);
    const found = cert?.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    if (found.length === 0) return 'it has no client certificate';
    const expired = found.map((pem) => new X509Certificate(pem)).find((one) => one.validToDate.getTime() < now);
    return expired && `its client certificate expired ${expired.validToDate.toISOString()}`;
  } catch (error) {
    return describeError(error);
  }
}

/** The server of the bootstrap kubeconfig, with the node's own certificate in place of the bootstrap credentials. */
export async function writeKubeconfig(
  {
    kubeconfig,
    bootstrapKubeconfig,
    pair,
  }: { readonly kubeconfig: string; readonly bootstrapKubeconfig: string; readonly pair: string },
  environment: Environment,
): Promise<void> {
  const { access } = await loadKubeconfig({ path: bootstrapKubeconfig, environment });
  const { endpoint, authority, skipVerify } = access.cluster;
  const text = renderKubeconfig({ server: endpoint.text, skipVerify, authority, pair }, (pem) =>
    Buffer.from(pem).toString('base64'),
  );
  await writeFileAtomically(kubeconfig, text, { mode: 0o600, durable: true, directoryMode: 0o755 });
}

/** A key on disk until its certificate is there: after a restart the same request is found again. */
export function createLastingKey(directory: string): LastingKey {
  const path = join(directory, TEMPORARY_KEY);
  return {
    load: async () => {
      const known = await readFile(path, 'latin1').catch(() => '');
      if (isKey(known)) return known;
      const made = await makeKey();
      await writeFileAtomically(path, made, { mode: 0o600, durable: true, directoryMode: 0o755 });
      return made;
    },
    remove: async () => {
      await unlink(path).catch(ifPathMissing(undefined));
    },
  };
}
