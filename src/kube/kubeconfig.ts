/** Reads the kubeconfig file. */

import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isMissing } from '../base/errno.ts';
import { CodedError } from '../base/errors.ts';
import { type Environment, proxyOfEnvironment } from './rules/environment-proxy.ts';
import { type Access, readKubeconfig } from './rules/kubeconfig.ts';
import type { PemSource } from './rules/pem-source.ts';

export interface LoadedKubeconfig {
  /** With paths that hold from everywhere. */
  readonly access: Access;
  readonly warnings: readonly string[];
}

export interface KubeconfigPlace {
  readonly path: string;
  /** Of the kubeconfig for a first certificate; empty: none. */
  readonly bootstrapPath: string;
  /** Where a proxy may be named. */
  readonly environment: Environment;
}

/** Rejects with all that is wrong with the file, each with its place. */
export async function loadKubeconfig({ path, bootstrapPath, environment }: KubeconfigPlace): Promise<LoadedKubeconfig> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new CodedError('invalid', missingText(path, bootstrapPath, cause), { cause });
  });
  const read = readKubeconfig(text, path);
  if ('problems' in read) throw new CodedError('invalid', `the kubeconfig can't be used: ${read.problems.join('; ')}`);
  const access = withProxy(withFullPaths(read.access, dirname(resolve(path))), environment);
  return { access, warnings: read.warnings };
}

function withProxy(access: Access, environment: Environment): Access {
  const { cluster } = access;
  if (cluster.proxy !== undefined) return access;
  const proxy = proxyOfEnvironment(environment, cluster.endpoint);
  if (!proxy.ok) throw new CodedError('invalid', `HTTPS_PROXY or HTTP_PROXY in the environment: ${proxy.problem}`);
  return { ...access, cluster: { ...cluster, proxy: proxy.value } };
}

function missingText(path: string, bootstrapPath: string, cause: unknown): string {
  const what = `the kubeconfig ${path} can't be read`;
  if (!isMissing(cause) || bootstrapPath === '') return what;
  return `${what}; to get a first certificate with --bootstrap-kubeconfig=${bootstrapPath} is not supported yet: write a kubeconfig with a certificate or token to ${path}`;
}

/** Paths are relative to the file that they stand in. A command without a slash is looked for in PATH. */
function withFullPaths({ cluster, user }: Access, directory: string): Access {
  const full = <T extends PemSource | undefined>(source: T): T =>
    source?.kind === 'file' ? { ...source, path: resolve(directory, source.path) } : source;
  const { certificate, tokenFile, exec } = user;
  return {
    cluster: { ...cluster, authority: full(cluster.authority) },
    user: {
      ...user,
      certificate: certificate && { cert: full(certificate.cert), key: full(certificate.key) },
      tokenFile: tokenFile && resolve(directory, tokenFile),
      exec: exec && { ...exec, command: exec.command.includes('/') ? resolve(directory, exec.command) : exec.command },
    },
  };
}
