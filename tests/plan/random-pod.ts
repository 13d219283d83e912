/** Pods and fates from a seed, so that a failure can be lived again. */
import type { Container, ContainerRestartRule, RestartPolicy } from '../../src/api/container.ts';
import type { Pod } from '../../src/api/pod.ts';
import { makePod } from './builders.ts';
import type { Fate } from './simulated-runtime.ts';

export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, but not including, `below`. */
  number(below: number): number {
    this.#state = (Math.imul(this.#state ^ (this.#state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    const mixed = Math.imul(this.#state ^ (this.#state >>> 12), 0x297a2d39) >>> 0;
    return ((mixed ^ (mixed >>> 15)) >>> 0) % below;
  }

  in(times: number): boolean {
    return this.number(times) === 0;
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.number(items.length)] ?? items[0];
  }
}

const POLICIES = ['Always', 'OnFailure', 'Never'] as const satisfies readonly RestartPolicy[];

export function randomPod(chance: Chance): Pod {
  const restartPolicy = chance.pick(POLICIES);
  const initContainers = Array.from({ length: chance.number(4) }, (_, at) => randomInit(chance, `i${at}`));
  const containers = Array.from({ length: 1 + chance.number(3) }, (_, at) => randomRegular(chance, `c${at}`));
  return makePod({
    restartPolicy,
    initContainers,
    containers,
    ...(chance.in(4) ? { ephemeralContainers: [{ name: 'e0', image: 'i' }] } : {}),
    ...(chance.in(8) ? { activeDeadlineSeconds: 1 + chance.number(600) } : {}),
  });
}

function randomInit(chance: Chance, name: string): Container {
  if (!chance.in(2)) return { name, image: 'i', ...randomRules(chance) };
  return { name, image: 'i', restartPolicy: 'Always', ...(chance.in(2) ? { startupProbe: { exec: {} } } : {}) };
}

function randomRegular(chance: Chance, name: string): Container {
  return { name, image: 'i', ...randomRules(chance), ...(chance.in(3) ? { livenessProbe: { exec: {} } } : {}) };
}

/** Rules need a policy beside them; `Always` would make a sidecar of an init container. */
function randomRules(chance: Chance): Pick<Container, 'restartPolicy' | 'restartPolicyRules'> {
  if (!chance.in(4)) return {};
  const action: ContainerRestartRule['action'] = chance.in(2) ? 'RestartAllContainers' : 'Restart';
  const operator = chance.in(2) ? 'In' : 'NotIn';
  return {
    restartPolicy: chance.pick(['OnFailure', 'Never']),
    ...(chance.in(2) ? { restartPolicyRules: [{ action, exitCodes: { operator, values: [chance.number(3)] } }] } : {}),
  };
}

/** Mostly well; what fails, fails in every way there is. */
export function randomFate(chance: Chance, name: string): Fate {
  const exitCode = chance.in(2) ? 0 : chance.number(4);
  if (chance.in(12)) return { fails: chance.in(2) ? 'make' : 'start', exitCode };
  const ends = name.startsWith('i') ? !chance.in(5) : chance.in(2);
  return {
    exitCode,
    stopCode: chance.pick([0, 0, 137, 143]),
    upAfterMs: 100 + chance.number(5000),
    ...(ends ? { endsAfterMs: 1 + chance.number(chance.in(6) ? 2_000_000 : 20_000) } : {}),
    ...(chance.in(8) ? { unwellAfterMs: 1000 + chance.number(60_000) } : {}),
    hookFails: chance.in(15),
  };
}
