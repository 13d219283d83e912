/** The public entry point: all sources of one node, merged into the set of pods that should run on it. */
import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Pod } from '../api/pod.ts';
import { DEFAULT_POD_GATES, type PodGates } from '../api/pod-gates.ts';
import { formatNanoTime } from '../api/timestamp.ts';
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Inotify } from '../host/inotify.ts';
import type { RecordEvent } from '../model/event.ts';
import { createFileSource } from './file.ts';
import { createLastGood, createNoLastGood } from './last-good.ts';
import { createReport } from './report.ts';
import { markPod, mergeSources, type SourceName, type SourceState } from './rules/merge.ts';
import { createUrlSource } from './url.ts';

export interface SourcesConfig {
  readonly nodeName: string;
  /** Empty: none. */
  readonly staticPodPath: string;
  readonly fileCheckFrequencyMs: number;
  /** Empty: none. */
  readonly staticPodUrl: string;
  readonly staticPodUrlHeader: Readonly<Record<string, readonly string[]>>;
  readonly httpCheckFrequencyMs: number;
  /** The gate PreventStaticPodAPIReferences. */
  readonly preventApiReferences: boolean;
  /** Where the last good manifests are kept for the next kubelet; undefined keeps none. */
  readonly stateDirectory?: string;
  /** Other gates that decide what a pod may contain; their defaults if not given. */
  readonly gates?: PodGates;
}

export interface SourcesDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly inotify: Pick<Inotify, 'watch'>;
  readonly record: RecordEvent;
  /** Called with the whole set at the start and after every change. A pod that did not change is the same object as before. */
  readonly onDesired: (pods: readonly Pod[], everySourceHeard: boolean, heard: ReadonlySet<SourceName>) => void;
  /** Where pods of an API server come from; undefined for a kubelet without one. */
  readonly apiServer?: ((publish: (pods: readonly Pod[]) => void) => Part) | undefined;
}

export function createSources(config: SourcesConfig, deps: SourcesDeps): Part {
  const log = deps.log.named('sources');
  const merge = createMerge({ ...deps, log }, sourceNames(config, deps));
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  const { nodeName, preventApiReferences, gates = DEFAULT_POD_GATES } = config;
  const rules = { nodeName, preventApiReferences, gates, hash };
  const lastGood = (source: SourceName) =>
    config.stateDirectory === undefined ? createNoLastGood() : createLastGood(join(config.stateDirectory, source), log);
  const parts: Part[] = [];
  if (config.staticPodPath !== '') {
    parts.push(
      createFileSource(
        { path: resolve(config.staticPodPath), checkEveryMs: config.fileCheckFrequencyMs },
        {
          ...deps,
          log,
          lastGood: lastGood('file'),
          rules: { ...rules, source: 'file' },
          onPods: (pods, heard) => merge('file', { pods, heard }),
        },
      ),
    );
  }
  if (config.staticPodUrl !== '') {
    parts.push(
      createUrlSource(
        { url: config.staticPodUrl, headers: config.staticPodUrlHeader, checkEveryMs: config.httpCheckFrequencyMs },
        {
          ...deps,
          log,
          lastGood: lastGood('http'),
          rules: { ...rules, source: 'http' },
          onPods: (pods, heard) => merge('http', { pods, heard }),
        },
      ),
    );
  }
  if (deps.apiServer !== undefined) parts.push(deps.apiServer((pods) => merge('api', { pods, heard: true })));
  return {
    name: 'sources',
    start: async (signal) => {
      // Without any source the set is empty, and that is known at once.
      if (parts.length === 0) deps.onDesired([], true, new Set());
      for (const part of parts) await part.start(signal);
    },
    stop: async () => {
      for (const part of parts.toReversed()) await part.stop?.();
    },
  };
}

function sourceNames(config: SourcesConfig, { apiServer }: Pick<SourcesDeps, 'apiServer'>): readonly SourceName[] {
  const names: SourceName[] = [];
  if (config.staticPodPath !== '') names.push('file');
  if (config.staticPodUrl !== '') names.push('http');
  if (apiServer !== undefined) names.push('api');
  return names;
}

type MergeDeps = Pick<SourcesDeps, 'clock' | 'log' | 'record' | 'onDesired'>;

function createMerge(deps: MergeDeps, names: readonly SourceName[]): (source: SourceName, state: SourceState) => void {
  const states = new Map<SourceName, SourceState | undefined>(names.map((name) => [name, undefined]));
  const report = createReport(deps);
  // Marked pods by the pod they were made from: one that did not change stays the same object.
  const marked = new WeakMap<Pod, Pod>();
  let seen = new Map<string, string>();

  return (source, state) => {
    states.set(source, state);
    const now = formatNanoTime(deps.clock.now());
    const seenNow = new Map<string, string>();
    const merged = mergeSources(states, (pod, from) => {
      const first = seen.get(pod.metadata.uid) ?? now;
      seenNow.set(pod.metadata.uid, first);
      const known = marked.get(pod) ?? markPod(pod, from, first);
      marked.set(pod, known);
      return known;
    });
    seen = seenNow;
    report.duplicates(merged.refused);
    deps.onDesired(merged.pods, merged.everySourceHeard, merged.heard);
  };
}
