/** Reads the kubeconfig file. */

import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CodedError } from '../base/errors.ts';
import { withAuthFile } from './rules/auth-file.ts';
import { type Environment, proxyOfEnvironment } from './rules/environment-proxy.ts';
import { type Access, readKubeconfig } from './rules/kubeconfig.ts';
import type { PemSource } from './rules/pem-source.ts';

export interface LoadedKubeconfig {
  /** With absolute paths. */
  readonly access: Access;
  readonly warnings: readonly string[];
}

export interface KubeconfigPlace {
  readonly path: string;
  /** May name a proxy. */
  readonly environment: Environment;
  /** The file of `--auth-path`; empty: none. */
  readonly authPath?: string;
}

/** Rejects with all problems of the file, each with its position. */
export async function loadKubeconfig({ path, environment, authPath = '' }: KubeconfigPlace): Promise<LoadedKubeconfig> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new CodedError('invalid', `the kubeconfig ${path} can't be read`, { cause });
  });
  const read = readKubeconfig(text, path);
  if ('problems' in read) throw new CodedError('invalid', `invalid kubeconfig: ${read.problems.join('; ')}`);
  const access = await withAuth(withProxy(withFullPaths(read.access, dirname(resolve(path))), environment), authPath);
  return { access, warnings: read.warnings };
}

/** Paths in it are relative to it. */
async function withAuth(access: Access, path: string): Promise<Access> {
  if (path === '') return access;
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new CodedError('invalid', `the file of --auth-path ${path} can't be read`, { cause });
  });
  const outcome = withAuthFile(access, text);
  if ('problem' in outcome) throw new CodedError('invalid', `invalid file of --auth-path ${path}: ${outcome.problem}`);
  return withFullPaths(outcome.access, dirname(resolve(path)));
}

function withProxy(access: Access, environment: Environment): Access {
  const { cluster } = access;
  if (cluster.proxy !== undefined) return access;
  const proxy = proxyOfEnvironment(environment, cluster.endpoint);
  if (!proxy.ok) throw new CodedError('invalid', `HTTPS_PROXY or HTTP_PROXY in the environment: ${proxy.problem}`);
  return { ...access, cluster: { ...cluster, proxy: proxy.value } };
}

/** Paths are relative to the kubeconfig. A command without a slash is searched in PATH. */
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
