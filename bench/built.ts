/**
 * What our kubelet can do today. A measure that needs more is shown as "not built yet" for ours; the reference is measured all the
 * same. Who builds a part adds its name to BUILT.
 */
export type Capability =
  | 'health' // starts and answers /healthz
  | 'pods' // runs static pods
  | 'probes' // carries out their probes
  | 'api' // joins a cluster, runs its pods, reports their status and the node's
  | 'stats' // serves /metrics/cadvisor and /stats/summary
  | 'logs'; // serves /containerLogs, and passes streams through

export const BUILT: ReadonlySet<Capability> = new Set<Capability>(['health', 'pods', 'probes', 'api', 'stats', 'logs']);
