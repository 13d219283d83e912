/** Random machines, settings and pods from a seed. */
import type { ShortContainer, ShortNode, ShortPod, ShortSettings } from './managers-testing.ts';

export interface Random {
  below(limit: number): number;
  settings(): ShortSettings;
  pod(uid: string, settings: ShortSettings): ShortPod;
}

const OPTIONS: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'full-pcpus-only': 'true' },
  { 'distribute-cpus-across-numa': 'true' },
  { 'full-pcpus-only': 'true', 'distribute-cpus-across-numa': 'true' },
  { 'align-by-socket': 'true' },
  { 'distribute-cpus-across-cores': 'true' },
  { 'prefer-align-cpus-by-uncorecache': 'true' },
  { 'full-pcpus-only': 'true', 'prefer-align-cpus-by-uncorecache': 'true' },
];

export function createRandom(seed: number): Random {
  let state = seed;
  /** A linear congruential generator: the same numbers on every machine. */
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const pick = <T>(values: readonly [T, ...T[]]): T => values[below(values.length)] ?? values[0];
  const machine = (): readonly ShortNode[] => {
    const count = pick([1, 2, 2, 4, 8]);
    const perSocket = Math.min(count, pick([1, 1, 2, 4]));
    const cores = pick([1, 2, 4, 6]);
    const threads = pick([1, 2, 2]);
    const cacheOf = pick([0, 1, 2, 4]);
    return Array.from({ length: count }, (_, id) => {
      const c = Array.from({ length: cores }, (_unused, core) => {
        const first = id * cores + core;
        const all = Array.from({ length: threads }, (_thread, thread) => first + thread * count * cores);
        const cache = cacheOf === 0 ? '' : `:${Math.floor(first / cacheOf)}`;
        // Now and then a thread is switched off.
        const on = all.length > 1 && below(30) === 0 ? all.slice(0, 1) : all;
        return `${Math.floor(id / perSocket)}:${on.join(',')}${cache}`;
      });
      const d = Array.from({ length: count }, (_unused, other) => (other === id ? 10 : 20 + Math.abs(other - id)));
      return { id, m: pick([2048, 4096]), h: pick([0, 64]), d, c };
    });
  };
  const container = (name: string, largest: number): ShortContainer => {
    const c = (1 + below(largest)) * 1000 - (below(8) === 0 ? 500 : 0);
    const h = below(6) === 0 ? { h: 64 } : {};
    return { n: name, c, m: pick([64, 512, 1024, 3000]), ...h };
  };
  return {
    below,
    settings: () => {
      const nodes = machine();
      const first = nodes[0]?.c[0]?.split(':')[1]?.split(',')[0] ?? '0';
      const strict = below(4) === 0 ? { 'strict-cpu-reservation': 'true' } : {};
      const closest = below(2) === 0 ? { 'prefer-closest-numa-nodes': 'true' } : {};
      return {
        nodes,
        cpuOptions: { ...(OPTIONS[below(OPTIONS.length)] ?? {}), ...strict },
        ...(below(2) === 0 ? { reserved: first } : {}),
        reservedCount: 1,
        reservedMiB: { '0': 100 },
        policy: pick(['none', 'best-effort', 'restricted', 'single-numa-node']),
        scope: pick(['container', 'pod']),
        options: closest,
        podLevel: below(5) === 0,
      };
    },
    pod: (uid, { nodes, podLevel = false }) => {
      const largest = Math.max(1, Math.floor(nodes.length * (nodes[0]?.c.length ?? 1)));
      const i = Array.from({ length: below(3) }, (_, index) => ({
        ...container(`init-${index}`, largest),
        ...(below(3) === 0 ? { s: true } : {}),
      }));
      const c = Array.from({ length: 1 + below(2) }, (_, index) => container(`main-${index}`, largest));
      const total = { n: '', c: 1000 * (1 + below(largest + 2)), m: 4096 };
      return { uid, i, c, ...(podLevel && below(2) === 0 ? { p: total } : {}), b: below(10) === 0 };
    },
  };
}
