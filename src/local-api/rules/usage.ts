/** What `kubectl top` asks for: the group metrics.k8s.io, made from the kubelet's own statistics. */
import { type ApiObject, mapOf } from './objects.ts';

export const METRICS_VERSION = 'metrics.k8s.io/v1beta1';
const ROOT = `/apis/${METRICS_VERSION}/`;

/** The kinds of the group, for the discovery. */
export const USAGE_KINDS = [
  { plural: 'nodes', kind: 'NodeMetrics', isNamespaced: false },
  { plural: 'pods', kind: 'PodMetrics', isNamespaced: true },
] as const;

export interface UsageTarget {
  readonly plural: 'nodes' | 'pods';
  /** Empty: all. */
  readonly namespace: string;
  readonly name: string;
}

/** Undefined: the path is none of this group. */
export function usageTargetOf(path: string): UsageTarget | undefined {
  if (!path.startsWith(ROOT)) return undefined;
  const steps = path.slice(ROOT.length).split('/');
  if (steps.includes('')) return undefined;
  const [first = '', second = '', third, fourth = '', ...more] = steps;
  if (more.length > 0) return undefined;
  if (first === 'nodes' && third === undefined) return { plural: 'nodes', namespace: '', name: second };
  if (first === 'pods' && second === '') return { plural: 'pods', namespace: '', name: '' };
  return first === 'namespaces' && third === 'pods' ? { plural: 'pods', namespace: second, name: fourth } : undefined;
}

/** `/stats/summary`, as far as it is read here. */
export interface UsageSummary {
  readonly node: object;
  readonly pods: readonly object[];
}

type Fields = Readonly<Record<string, unknown>>;

/** As the reference's metrics server says it of readings that are made when someone asks. */
const WINDOW = '10s';

/** `objects`: the nodes or pods that were asked for. One that has no reading yet is left out. */
export function usageItems(
  { plural }: UsageTarget,
  objects: readonly ApiObject[],
  { node, pods }: UsageSummary,
): readonly object[] {
  if (plural === 'nodes') {
    return objects.flatMap((object) => {
      const { usage, time } = readingOf(mapOf(node));
      return usage === undefined ? [] : [{ ...headOf('NodeMetrics', object), ...moment(time), usage }];
    });
  }
  const read = new Map(pods.map((pod) => [keyOf(mapOf(mapOf(pod)['podRef'])), mapOf(pod)]));
  return objects.flatMap((object) => {
    const { namespace, name } = object.metadata;
    const containers = listOf(read.get(keyOf({ namespace, name }))?.['containers']).flatMap((container) => {
      const { usage, time } = readingOf(container);
      return usage === undefined ? [] : [{ time, shown: { name: container['name'], usage } }];
    });
    if (containers.length === 0) return [];
    const shown = containers.map((one) => one.shown);
    return [{ ...headOf('PodMetrics', object), ...moment(containers[0]?.time ?? ''), containers: shown }];
  });
}

const keyOf = ({ namespace, name }: Fields): string => `${String(namespace)}/${String(name)}`;
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(mapOf) : []);
const moment = (timestamp: string) => ({ timestamp, window: WINDOW });

function headOf(kind: string, { metadata }: ApiObject) {
  const { name, namespace, labels, creationTimestamp } = metadata;
  return {
    kind,
    apiVersion: METRICS_VERSION,
    metadata: { name, ...(namespace && { namespace }), ...(labels && { labels }), creationTimestamp },
  };
}

function readingOf(part: Fields): { readonly time: string; readonly usage: object | undefined } {
  const [cpu, memory] = [mapOf(part['cpu']), mapOf(part['memory'])];
  const [nanos, bytes] = [cpu['usageNanoCores'], memory['workingSetBytes']];
  const time = String(memory['time'] ?? '');
  if (typeof nanos !== 'number' || typeof bytes !== 'number') return { time, usage: undefined };
  return { time, usage: { cpu: `${Math.round(nanos)}n`, memory: `${Math.floor(bytes / 1024)}Ki` } };
}
