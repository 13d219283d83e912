/** Every measure, in the order in which they are taken: those of a node alone first, then those that need a cluster. */
import type { Measure } from './measure.ts';
import { apiPod } from './measures/api-pod.ts';
import { api50, api100 } from './measures/api-pods.ts';
import { apiRestart } from './measures/api-restart.ts';
import { configMap } from './measures/config-map.ts';
import { endpoints } from './measures/endpoints.ts';
import { floor } from './measures/floor.ts';
import { forward } from './measures/forward.ts';
import { hungMount } from './measures/hung-mount.ts';
import { idle } from './measures/idle.ts';
import { logs } from './measures/logs.ts';
import { probes } from './measures/probes.ts';
import { reaction } from './measures/reaction.ts';
import { readyLatency } from './measures/ready-latency.ts';
import { resize } from './measures/resize.ts';
import { restart } from './measures/restart.ts';
import { scrape } from './measures/scrape.ts';
import { start } from './measures/start.ts';
import { staticPod } from './measures/static-pod.ts';
import { static50, static100 } from './measures/static-pods.ts';
import { volumes } from './measures/volumes.ts';

export const MEASURES: readonly Measure[] = [
  ...[
    start,
    idle,
    floor,
    staticPod,
    static50,
    static100,
    probes,
    reaction,
    restart,
    endpoints,
    scrape,
    logs,
    hungMount,
  ],
  ...[apiPod, api50, api100, readyLatency, apiRestart, forward, volumes, configMap, resize],
];

/** Those that were named, in the order of MEASURES; all if none was. An unknown name is an error. */
export function chooseMeasures(names: readonly string[]): readonly Measure[] {
  const known = MEASURES.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`no measure named ${unknown.join(', ')}; there are ${known.join(', ')}`);
  return names.length === 0 ? MEASURES : MEASURES.filter(({ name }) => names.includes(name));
}
