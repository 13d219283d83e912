/** KUBEBUILDER_ASSETS: a directory with ready-made etcd, kube-apiserver and kubectl, the way the ecosystem's test tools name it. */
import { join } from 'node:path';
import type { RunCommand } from '../../../tools/machine/command.ts';
import { BinariesUnavailable } from './unavailable.ts';
import { formatVersion, isAtLeast, parseVersion, type Version } from './version.ts';

type Environment = Readonly<Record<string, string | undefined>>;

interface AssetCheck {
  readonly ask: readonly string[];
  readonly oldest: Version;
  readonly because: string;
}

const CHECKS: Readonly<Record<string, AssetCheck>> = {
  etcd: {
    ask: ['--version'],
    oldest: [3, 5, 13],
    because: 'kube-apiserver 1.36 does not work with older ones',
  },
  'kube-apiserver': {
    ask: ['--version'],
    oldest: [1, 36, 0],
    because: 'an API server must not be older than the kubelet',
  },
  kubectl: {
    ask: ['version', '--client'],
    oldest: [1, 35, 0],
    because: 'a client may be one minor version behind the server',
  },
};

/** The path of `name` in the directory that KUBEBUILDER_ASSETS names, or nothing if it is not to be taken from there. */
export function assetPath(env: Environment, name: string): string | undefined {
  const directory = env['KUBEBUILDER_ASSETS'];
  if (directory === undefined || directory === '' || !Object.hasOwn(CHECKS, name)) return undefined;
  return join(directory, name);
}

/** Resolves if the asset runs and is new enough; says what is wrong otherwise. */
export async function checkAsset(
  name: string,
  path: string,
  how: { readonly run: RunCommand; readonly env: Environment; readonly signal: AbortSignal },
): Promise<void> {
  const check = CHECKS[name];
  if (check === undefined) throw new Error(`no asset is called ${name}`);
  const outcome = await how.run({ argv: [path, ...check.ask], env: how.env, signal: how.signal });
  const wrong = (what: string) =>
    new BinariesUnavailable('assets', `KUBEBUILDER_ASSETS: ${path} ${what}. Put it right, or unset KUBEBUILDER_ASSETS`);
  if (outcome.code !== 0) {
    throw wrong(
      `does not run (${check.ask.join(' ')} ended with ${outcome.code}: ${outcome.lastLines.slice(-3).join('; ')})`,
    );
  }
  const version = parseVersion(outcome.stdout);
  if (version === undefined) throw wrong(`tells no version: ${JSON.stringify(outcome.stdout.slice(0, 200))}`);
  if (!isAtLeast(version, check.oldest)) {
    throw wrong(
      `is version ${formatVersion(version)}, allowed is ${formatVersion(check.oldest)} or newer (${check.because})`,
    );
  }
}
