/** How many CRI calls containerd has been asked: its own count, so that nothing stands between it and the kubelet. */
import type { LabNode } from '../../tests/lab/lab.ts';

const ADDRESS = '127.0.0.1:1338';

/** Goes to the end of containerd's configuration. */
export const RUNTIME_METRICS_CONFIG = `
[metrics]
address = "${ADDRESS}"
`;

/** Calls since containerd started, by method. */
export type RuntimeCalls = ReadonlyMap<string, number>;

export async function readRuntimeCalls(node: LabNode): Promise<RuntimeCalls> {
  const { status, text } = await node.gate.request(`http://${ADDRESS}/v1/metrics`);
  if (status !== 200) throw new Error(`containerd's metrics: status ${status}: ${text()}`);
  return parseRuntimeCalls(text());
}

const STARTED = /^grpc_server_started_total\{([^}]*)\} ([\d.e+]+)$/gm;

export function parseRuntimeCalls(metrics: string): RuntimeCalls {
  const calls = new Map<string, number>();
  for (const [, labels = '', count] of metrics.matchAll(STARTED)) {
    const method = /grpc_method="([^"]*)"/.exec(labels)?.[1];
    const isCri = /grpc_service="runtime\.v1\./.test(labels);
    if (method !== undefined && isCri) calls.set(method, (calls.get(method) ?? 0) + Number(count));
  }
  return calls;
}

export function countCalls(calls: RuntimeCalls, method?: string): number {
  if (method !== undefined) return calls.get(method) ?? 0;
  return calls.values().reduce((sum, count) => sum + count, 0);
}
