/** The worlds of this process: made after what dead processes left was swept away, and taken down however the process ends. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createPlace, findLeftovers, type Leftover, sweep, type WorldPlace } from '../../tools/machine/ledger.ts';

/** A run that must not meet the worlds of another one (the lab's own tests) names a place of its own in KUBELET_TS_LAB. */
export function labPlace(env: NodeJS.ProcessEnv): WorldPlace {
  const name = env['KUBELET_TS_LAB'] || 'lab';
  return createPlace(`/var/opt/kubelet-ts/${name}`, `kubelet-ts-${name}-`);
}

const INTERRUPTS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

interface Mortal {
  destroy(): Promise<void>;
}

export interface Worlds {
  sweepOnce(): Promise<void>;
  /** Makes a world and takes charge of its end. `beforeEnd` runs while its directory is still there. */
  make<W extends Mortal>(
    create: (id: string) => Promise<W>,
    beforeEnd: (made: W) => Promise<void>,
  ): Promise<W & AsyncDisposable>;
  leftovers(): Promise<Leftover[]>;
}

export function createWorlds(place: WorldPlace): Worlds {
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

  // A world is known from before it is made: an interrupt half-way must not leave it behind.
  const enter = (id: string) => {
    if (living.size === 0) watch();
    living.add(id);
  };
  const leave = (id: string) => {
    living.delete(id);
    if (living.size === 0) unwatch();
  };

  return {
    sweepOnce: async () => {
      swept ??= sweep(place);
      await swept;
    },
    leftovers: () => findLeftovers(place),
    make: async (create, beforeEnd) => {
      const id = randomBytes(4).toString('hex');
      enter(id);
      const made = await create(id).catch((error: unknown) => {
        leave(id);
        throw error;
      });
      let end: Promise<void> | undefined;
      const finish = async () => {
        try {
          await beforeEnd(made);
        } finally {
          await made.destroy();
          leave(id);
        }
      };
      return {
        ...made,
        [Symbol.asyncDispose]: () => {
          end ??= finish();
          return end;
        },
      };
    },
  };
}
