import type { Clock } from './clock.ts';
import { createSilentLogger } from './logger.ts';
import { createSupervisor, type Supervisor, type SupervisorDeps } from './supervise.ts';

/** A supervisor as the kubelet has it, without jitter and without a log. */
export function createTestSupervisor(clock: Clock, more: Partial<SupervisorDeps> = {}): Supervisor {
  return createSupervisor({ clock, log: createSilentLogger(), random: () => 1, ...more });
}
