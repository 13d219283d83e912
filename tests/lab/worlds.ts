/** The worlds of this process: made after what dead processes left was swept away, and taken down however the process ends. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createPlace, findLeftovers, type Leftover, sweep } from '../../tools/machine/ledger.ts';
import type { NodeWorld } from '../../tools/machine/node.ts';
import type { LabNode } from './lab.ts';

export const LAB_PLACE = createPlace('/var/opt/kubelet-ts/lab', 'kubelet-ts-lab-');

const INTERRUPTS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Worlds {
  sweepOnce(): Promise<void>;
  /** Takes charge of a node's end. `beforeEnd` runs while its folder is still there. */
  adopt(made: NodeWorld, beforeEnd: (made: NodeWorld) => Promise<void>): LabNode;
  leftovers(): Promise<Leftover[]>;
}

export function createWorlds(): Worlds {
  const living = new Set<string>();
  let swept: Promise<unknown> | undefined;

  // Asynchronous work is over when a process exits, so the sweeper is a program of its own.
  const destroyAll = () => {
    if (living.size === 0) return;
    spawnSync(process.execPath, [join(import.meta.dirname, 'destroy-main.ts'), ...living], { stdio: 'inherit' });
    living.clear();
  };
  const onInterrupt = (signal: NodeJS.Signals) => {
    destroyAll();
    unwatch();
    process.kill(process.pid, signal);
  };
  const watch = () => {
    process.on('exit', destroyAll);
    for (const signal of INTERRUPTS) process.on(signal, onInterrupt);
  };
  const unwatch = () => {
    process.off('exit', destroyAll);
    for (const signal of INTERRUPTS) process.off(signal, onInterrupt);
  };

  return {
    sweepOnce: async () => {
      swept ??= sweep(LAB_PLACE);
      await swept;
    },
    leftovers: () => findLeftovers(LAB_PLACE),
    adopt: (made, beforeEnd) => {
      if (living.size === 0) watch();
      living.add(made.id);
      let end: Promise<void> | undefined;
      const finish = async () => {
        try {
          await beforeEnd(made);
        } finally {
          await made.destroy();
          living.delete(made.id);
          if (living.size === 0) unwatch();
        }
      };
      return {
        ...made,
        runtimeSocket: made.containerd.socket,
        [Symbol.asyncDispose]: () => {
          end ??= finish();
          return end;
        },
      };
    },
  };
}
