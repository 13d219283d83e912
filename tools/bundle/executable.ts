import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NODE_OPTIONS } from './node-options.ts';

export interface ExecutableInput {
  /** What Node runs first. */
  readonly boot: string;
  /** What it asks for, by name: the path of each. */
  readonly assets: Readonly<Record<string, string>>;
  readonly output: string;
  /** A directory for what is needed on the way. */
  readonly work: string;
}

/** Puts the kubelet into a copy of the Node that runs this, so that the target machine needs none. */
export function buildExecutable({ boot, assets, output, work }: ExecutableInput): void {
  const config = join(work, 'sea.json');
  const settings = {
    main: boot,
    assets,
    output,
    disableExperimentalSEAWarning: true,
    // Node's own cache would hold only the few lines of `boot`: the bundle's is an asset.
    useCodeCache: false,
    useSnapshot: false,
    execArgv: NODE_OPTIONS,
    // Flags are the kubelet's own: Node must not take any of them for itself.
    execArgvExtension: 'none',
  };
  writeFileSync(config, JSON.stringify(settings));
  execFileSync(process.execPath, ['--build-sea', config], { stdio: ['ignore', 'ignore', 'inherit'] });
  chmodSync(output, 0o755);
}
