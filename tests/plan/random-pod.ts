/** Pods and fates from a seed, so that a failure can be lived again. */
import type { Container, ContainerRestartRule, RestartPolicy } from '../../src/api/container.ts';
import type { Pod } from '../../src/api/pod.ts';
import { makePod } from './builders.ts';
import type { Fate } from './simulated-runtime.ts';

export class Random {
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

export function randomPod(random: Random): Pod {
  const restartPolicy = random.pick(POLICIES);
  const initContainers = Array.from({ length: random.number(4) }, (_, at) => randomInit(random, `i${at}`));
  const containers = Array.from({ length: 1 + random.number(3) }, (_, at) => randomRegular(random, `c${at}`));
  return makePod({
    restartPolicy,
    initContainers,
    containers,
    ...(random.in(4) ? { ephemeralContainers: [{ name: 'e0', image: 'i' }] } : {}),
    ...(random.in(8) ? { activeDeadlineSeconds: 1 + random.number(600) } : {}),
  });
}

function randomInit(random: Random, name: string): Container {
  if (!random.in(2)) return { name, image: 'i', ...randomRules(random) };
  return { name, image: 'i', restartPolicy: 'Always', ...(random.in(2) ? { startupProbe: { exec: {} } } : {}) };
}

function randomRegular(random: Random, name: string): Container {
  return { name, image: 'i', ...randomRules(random), ...(random.in(3) ? { livenessProbe: { exec: {} } } : {}) };
}

/** Rules need a policy beside them; `Always` would make a sidecar of an init container. */
function randomRules(random: Random): Pick<Container, 'restartPolicy' | 'restartPolicyRules'> {
  if (!random.in(4)) return {};
  const action: ContainerRestartRule['action'] = random.in(2) ? 'RestartAllContainers' : 'Restart';
  const operator = random.in(2) ? 'In' : 'NotIn';
  return {
    restartPolicy: random.pick(['OnFailure', 'Never']),
    ...(random.in(2) ? { restartPolicyRules: [{ action, exitCodes: { operator, values: [random.number(3)] } }] } : {}),
  };
}

/** Mostly well; what fails, fails in every way there is. */
export function randomFate(random: Random, name: string): Fate {
  const exitCode = random.in(2) ? 0 : random.number(4);
  if (random.in(12)) return { fails: random.in(2) ? 'make' : 'start', exitCode };
  const ends = name.startsWith('i') ? !random.in(5) : random.in(2);
  return {
    exitCode,
    stopCode: random.pick([0, 0, 137, 143]),
    upAfterMs: 100 + random.number(5000),
    ...(ends ? { endsAfterMs: 1 + random.number(random.in(6) ? 2_000_000 : 20_000) } : {}),
    ...(random.in(8) ? { unwellAfterMs: 1000 + random.number(60_000) } : {}),
    hookFails: random.in(15),
  };
}
