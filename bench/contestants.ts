/** The kubelets that are measured. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { BinariesUnavailable } from '../tests/lab/binaries/unavailable.ts';
import { createSupplies } from '../tests/lab/supplies.ts';
import type { Contestant } from './world/node.ts';

const OURS = resolve(import.meta.dirname, '..', 'dist', 'kubelet');

/** Where the reference can't be had, ours is measured alone, and that is said. */
export async function findContestants(
  env: NodeJS.ProcessEnv,
  kubelet: string | undefined,
  say: (line: string) => void,
): Promise<Contestant[]> {
  const binary = resolve(kubelet ?? OURS);
  if (!existsSync(binary)) throw new Error(`${binary} is not there: run \`make build\` first`);
  const ours: Contestant = { name: 'ours', binary };
  try {
    return [ours, { name: 'reference', binary: await createSupplies(env).referenceKubelet() }];
  } catch (error) {
    if (!(error instanceof BinariesUnavailable)) throw error;
    say(`WARNING: no reference kubelet, so nothing to compare with: ${error.message}`);
    return [ours];
  }
}
