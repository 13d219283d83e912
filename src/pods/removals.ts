/**
 * When dead containers and sandboxes of removed pods are removed from the runtime. To stop a sandbox frees its network and memory, to
 * remove it frees some files: while many pods end, the stops go first, and no more removals run at once than starts do.
 */
import type { Clock } from '../base/clock.ts';
import { linkSignal } from '../base/signal.ts';
import { createTurns } from '../base/turns.ts';
import type { StepReport } from '../model/step.ts';
import type { Pass } from './pass.ts';

export interface Removals {
  /** A sandbox is being stopped, until this is disposed of. */
  stopping(): Disposable;
  /** Resolves with the turn to remove something; dispose of it after that. Rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<Disposable>;
}

/** A sandbox whose stop hangs, or a node where pods end all the time, must not keep others for ever. */
const LONGEST_WAIT_MS = 10_000;

export function createRemovals(clock: Clock, atOnce: number): Removals {
  const turns = createTurns(atOnce);
  const waiting = new Set<() => void>();
  let stops = 0;

  const untilIdle = async (signal: AbortSignal): Promise<void> => {
    if (stops === 0) return;
    using wait = linkSignal(signal);
    const idle = Promise.withResolvers<void>();
    waiting.add(idle.resolve);
    try {
      await Promise.race([idle.promise, clock.sleep(LONGEST_WAIT_MS, wait.signal)]);
    } finally {
      waiting.delete(idle.resolve);
      wait.abort('no wait any more');
    }
  };

  return {
    stopping: () => {
      let ended = false;
      stops += 1;
      return {
        [Symbol.dispose]: () => {
          if (ended) return;
          ended = true;
          stops -= 1;
          if (stops > 0) return;
          for (const resolve of waiting) resolve();
        },
      };
    },
    take: async (signal) => {
      await untilIdle(signal);
      return await turns.take([0], signal);
    },
  };
}

/** Reports the sandbox stops of this pod to those that wait for them. */
export function createSandboxStops({ stopping }: Removals): { note(report: StepReport): void } {
  let current: Disposable | undefined;
  return {
    note: ({ kind, subject }) => {
      if (subject.kind !== 'sandbox-stop') return;
      current?.[Symbol.dispose]();
      current = kind === 'begun' ? stopping() : undefined;
    },
  };
}

export interface RemovalTurn {
  isHeld(): boolean;
  request(pass: Pick<Pass, 'wake' | 'signal'>): void;
  /** Fine if it is not held, or was not requested. */
  release(): void;
}

/** The turn to remove what the runtime has of this pod. No pass waits for it: one is made when the turn has come. */
export function createRemovalTurn(removals: Removals): RemovalTurn {
  let turn: Disposable | undefined;
  let requested = false;
  return {
    isHeld: () => turn !== undefined,
    request: (pass) => {
      if (requested) return;
      requested = true;
      const granted = (given: Disposable) => {
        if (!requested) return given[Symbol.dispose]();
        turn = given;
        pass.wake();
      };
      // Rejected only when the kubelet stops.
      removals.take(pass.signal).then(granted, () => undefined);
    },
    release: () => {
      turn?.[Symbol.dispose]();
      turn = undefined;
      requested = false;
    },
  };
}
