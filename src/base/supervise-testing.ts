import type { Clock } from './clock.ts';
import { createSilentLogger } from './logger.ts';
import { createSupervisor, type Supervisor, type SupervisorDeps } from './supervise.ts';

/** A supervisor as the kubelet has it, without jitter and without a log. */
export function createTestSupervisor(clock: Clock, more: Partial<SupervisorDeps> = {}): Supervisor {
  return createSupervisor({ clock, log: createSilentLogger(), random: () => 1, ...more });
}

/** A fault for `beforeRound`: each loop of these names throws once. */
export function throwEachOnce(...names: readonly string[]): (loop: string) => void {
  const faults = names.map(throwOnce);
  return (loop) => {
    for (const fault of faults) fault(loop);
  };
}

/** A fault for `beforeRound`: the loop of this name throws once. */
export function throwOnce(name: string): (loop: string) => void {
  let hasThrown = false;
  return (loop) => {
    if (hasThrown || loop !== name) return;
    hasThrown = true;
    throw new Error(`injected into ${name}`);
  };
}
