/** What the tests of certificates share: requests in the cluster, and files of the node. */
import { X509Certificate } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { isMissing } from '../../src/base/errno.ts';
import type { ApiObject } from '../lab/cluster/api.ts';
import type { Cluster } from '../lab/cluster/cluster.ts';
import { until as untilAnswer } from '../node/pod-support.ts';

export const OURS = resolve(import.meta.dirname, '../../dist/kubelet');
export const NODE = 'node-1';
export const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
export const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';
export const SERVING_SIGNER = 'kubernetes.io/kubelet-serving';

export interface SigningRequest extends ApiObject {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly signerName: string;
    readonly username: string;
    readonly usages: readonly string[];
    readonly request: string;
  };
  readonly status: { readonly conditions?: readonly { readonly type: string }[]; readonly certificate?: string };
}

export async function requestsOf(cluster: Cluster, signer: string): Promise<readonly SigningRequest[]> {
  const { items } = (await cluster.admin.get(REQUESTS)) as { items?: readonly SigningRequest[] };
  return (items ?? []).filter(({ spec }) => spec.signerName === signer);
}

/** Reads again and again until it is as wanted. A file that is not there yet is waited for. */
export async function until<T>(
  what: string,
  read: () => Promise<T>,
  is: (found: T) => boolean,
  timeoutMs = 180_000,
): Promise<T> {
  const look = async () => {
    const found = await read().catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    return found !== undefined && is(found) ? found : undefined;
  };
  return await untilAnswer(what, look, timeoutMs);
}

/** As the processes of the world see it: a test may have mounted something there. */
export const pkiOf = (cluster: Cluster) => `/proc/${cluster.node.world.anchorPid}/root/var/lib/kubelet/pki`;

/** The link leads to where the kubelet has its directory; seen from here that is another path. */
export async function readCurrent(cluster: Cluster, kind: 'client' | 'server'): Promise<{ name: string; pem: string }> {
  const name = basename(await readlink(join(pkiOf(cluster), `kubelet-${kind}-current.pem`)));
  return { name, pem: await readFile(join(pkiOf(cluster), name), 'latin1') };
}

export async function currentOf(cluster: Cluster, kind: 'client' | 'server'): Promise<X509Certificate> {
  return new X509Certificate((await readCurrent(cluster, kind)).pem);
}
