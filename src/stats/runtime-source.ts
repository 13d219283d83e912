/** Statistics from the runtime instead of cgroups (gate `PodAndContainerStatsFromCRI`). What it does not report is undefined: cgroups have it. */
import type { MetricDescriptor, PodSandboxMetrics, PodSandboxStats } from '../wire/gen/cri-runtime-v1.ts';
import { type Complain, orUndefined } from './complaints.ts';
import type { MetricFamily } from './rules/resource-metrics.ts';
import { runtimeFamilies } from './rules/runtime-metrics.ts';
import { bySandbox, type RuntimePods } from './rules/runtime-stats.ts';
import type { Selection } from './rules/selection.ts';

export interface RuntimeStatsPort {
  readonly pods: (signal: AbortSignal) => Promise<readonly PodSandboxStats[]>;
  readonly descriptors: (signal: AbortSignal) => Promise<readonly MetricDescriptor[]>;
  readonly metrics: (signal: AbortSignal) => Promise<readonly PodSandboxMetrics[]>;
}

export interface RuntimeSource {
  pods(signal: AbortSignal): Promise<RuntimePods | undefined>;
  /** Of `/metrics/cadvisor`, in the order of their names. */
  families(selection: Selection, signal: AbortSignal): Promise<readonly MetricFamily[] | undefined>;
}

/** `port` undefined: the runtime is not asked. */
export function createRuntimeSource(port: RuntimeStatsPort | undefined, complain: Complain): RuntimeSource {
  const what = 'statistics of the runtime';
  const ask = <T>(signal: AbortSignal, work: (runtime: RuntimeStatsPort) => Promise<T>): Promise<T | undefined> =>
    orUndefined({ complain, what, signal }, async () => port && (await work(port)));
  return {
    pods: (signal) => ask(signal, async (runtime) => bySandbox(await runtime.pods(signal))),
    families: (selection, signal) =>
      ask(signal, async (runtime) => {
        // A runtime that was replaced by a newer one describes more: it is asked each time, and the answer is short.
        const [descriptors, metrics] = await Promise.all([runtime.descriptors(signal), runtime.metrics(signal)]);
        return descriptors.length === 0 ? undefined : runtimeFamilies(descriptors, metrics, selection);
      }),
  };
}
