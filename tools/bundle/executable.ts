import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NODE_OPTIONS } from './node-options.ts';

export interface ExecutableInput {
  readonly bundle: string;
  readonly output: string;
  /** A folder for what is needed on the way. */
  readonly work: string;
}

/** Puts the bundle into a copy of the Node that runs this, so that the target machine needs none. */
export function buildExecutable({ bundle, output, work }: ExecutableInput): void {
  const config = join(work, 'sea.json');
  const settings = {
    main: bundle,
    output,
    disableExperimentalSEAWarning: true,
    // Compiled code is made for the very processor that builds: a release must run on others.
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
