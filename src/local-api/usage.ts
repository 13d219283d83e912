/** Answers requests for metrics.k8s.io, so that `kubectl top` works on a node without a control plane. */
import type { ApiRequest } from './api.ts';
import { notAllowed, notFound, unavailable } from './rules/refusal.ts';
import { NODES, PODS } from './rules/resources.ts';
import { METRICS_VERSION, USAGE_KINDS, type UsageSummary, usageItems, usageTargetOf } from './rules/usage.ts';
import type { Store } from './store.ts';
import { matcherOf } from './watches.ts';

export interface UsageDeps {
  readonly store: Pick<Store, 'list' | 'isOpen'>;
  /** `/stats/summary`. */
  readonly summary: (query: URLSearchParams, signal: AbortSignal) => Promise<UsageSummary>;
}

/** Disks are not asked for: they take longer than all the rest. */
const ONLY_NEEDED = new URLSearchParams({ only_cpu_and_memory: 'true' });

/** Undefined: the request is for something else. Throws a refusal. */
export async function answerUsage(
  { store, summary }: UsageDeps,
  { method, path, query }: Pick<ApiRequest, 'method' | 'path' | 'query'>,
  signal: AbortSignal,
): Promise<unknown> {
  const target = usageTargetOf(path);
  if (target === undefined) return undefined;
  if (method !== 'GET' || query.has('watch')) throw notAllowed();
  const { plural, namespace, name } = target;
  const resource = plural === 'nodes' ? NODES : PODS;
  const matches = matcherOf({ resource, namespace, query });
  const objects = store
    .list(plural, namespace)
    .filter((one) => matches(one) && (name === '' || one.metadata.name === name));
  const group = { group: 'metrics.k8s.io', plural };
  if (name !== '' && objects.length === 0) throw notFound(group, name);
  const items = usageItems(target, objects, await summary(ONLY_NEEDED, signal));
  if (name === '') {
    const kind = USAGE_KINDS.find((one) => one.plural === plural)?.kind;
    return { kind: `${kind}List`, apiVersion: METRICS_VERSION, metadata: {}, items };
  }
  if (items[0] === undefined) throw unavailable(`there is no reading of ${plural} "${name}" yet`);
  return items[0];
}
