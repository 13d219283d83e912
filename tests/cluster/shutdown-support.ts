/**
 * A node with systemd and the real logind goes through a shutdown: `systemctl poweroff` of a machine whose poweroff.target does nothing. logind
 * waits for the kubelet's lock as for any shutdown, starts the target, and takes its end for a cancelled shutdown. A lock of the test's own
 * keeps it between the two.
 */
import { join } from 'node:path';
import { openGate } from '../../tools/machine/gate.ts';
import { COMPONENTS } from '../lab/cluster/components.ts';
import { type ControlPlane, startControlPlane } from '../lab/cluster/control-plane.ts';
import { waitForObject } from '../lab/cluster/wait.ts';
import { createSupplies } from '../lab/supplies.ts';
import { createSystemNode, type SystemNode, type SystemNodeOptions } from '../lab/system/node.ts';
import { BUSYBOX, until } from '../node/pod-support.ts';

export const WAIT_MS = 120_000;
export const NODE = 'node';
const PODS = '/api/v1/namespaces/default/pods';

export interface ShutdownNode extends SystemNode {
  readonly plane: ControlPlane;
}

/** Seconds for each group; the last is long, so that logind waits for the lock of the test. */
export const PERIODS = [
  { priority: 0, shutdownGracePeriodSeconds: 6 },
  { priority: 1000, shutdownGracePeriodSeconds: 6 },
  { priority: 2_000_000_000, shutdownGracePeriodSeconds: 400 },
];

export async function createShutdownNode(kubelet: SystemNodeOptions['kubelet']): Promise<ShutdownNode> {
  const components = await createSupplies(process.env).ensure(...COMPONENTS);
  const node = await createSystemNode(process.env, {
    kubelet,
    cgroupDriver: 'systemd',
    units: ['systemd-logind.service'],
    config: { registerNode: true, shutdownGracePeriodByPodPriority: PERIODS, enableServer: true },
    flags: ['--kubeconfig=/etc/kubernetes/kubelet.conf'],
    etc: { 'systemd/system/poweroff.target': '[Unit]\nDefaultDependencies=no\nStopWhenUnneeded=yes\n' },
  });
  try {
    const gate = await openGate(node.system);
    const plane = await startControlPlane({ world: node.system, gate, binaries: components });
    await node.sh(`cp ${plane.adminKubeconfig} /etc/kubernetes/kubelet.conf`);
    await plane.admin.create('/apis/scheduling.k8s.io/v1/priorityclasses', {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'high' },
      value: 1000,
    });
    await node.startKubelet();
    await untilNode(plane, 'True');
    return {
      ...node,
      plane,
      [Symbol.asyncDispose]: async () => {
        plane.close();
        await node[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await node[Symbol.asyncDispose]();
    throw error;
  }
}

export async function untilNode(plane: ControlPlane, status: 'True' | 'False'): Promise<string> {
  let message = '';
  await waitForObject(
    plane.admin,
    { collection: '/api/v1/nodes', name: NODE, what: `Ready ${status}`, timeoutMs: WAIT_MS },
    (node) => {
      const { conditions = [] } = (node.status ?? {}) as { conditions?: readonly Condition[] };
      const ready = conditions.find(({ type }) => type === 'Ready');
      message = `${ready?.reason}: ${ready?.message}`;
      return ready?.status === status;
    },
  );
  return message;
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface PodStatusFacts {
  readonly phase: string;
  readonly reason: string | undefined;
  readonly message: string | undefined;
  readonly conditions: readonly string[];
  readonly exits: readonly string[];
}

const ENDS = `trap 'echo term; sleep 1; echo bye; exit 0' TERM`;
const IGNORES = `trap 'echo term' TERM`;
const script = (trap: string) => ['sh', '-c', `${trap}; echo up; while :; do sleep 0.1; done`];

interface PodOptions {
  readonly priorityClassName?: string;
  readonly grace: number;
  readonly ignores?: boolean;
}

export const podSpec = ({ priorityClassName, grace, ignores }: PodOptions) => ({
  terminationGracePeriodSeconds: grace,
  ...(priorityClassName && { priorityClassName }),
  containers: [{ name: 'main', image: BUSYBOX, command: script(ignores ? IGNORES : ENDS) }],
});

export async function createPod({ plane }: ShutdownNode, name: string, options: PodOptions): Promise<void> {
  const spec = { nodeName: NODE, restartPolicy: 'Always', ...podSpec(options) };
  await plane.admin.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
}

export async function untilRuns(node: ShutdownNode, name: string): Promise<void> {
  await untilPod(node, name, 'ready', ({ conditions }) => conditions.includes('Ready True'));
  await untilLine(node, name, 'up');
}

export async function untilEnded(node: ShutdownNode, name: string): Promise<PodStatusFacts> {
  return await untilPod(node, name, 'ended', ({ phase }) => phase === 'Failed' || phase === 'Succeeded');
}

async function untilPod(
  { plane }: ShutdownNode,
  name: string,
  what: string,
  is: (facts: PodStatusFacts) => boolean,
): Promise<PodStatusFacts> {
  let facts: PodStatusFacts | undefined;
  await waitForObject(plane.admin, { collection: PODS, name, what, timeoutMs: WAIT_MS }, (pod) => {
    facts = factsOf(pod.status);
    return is(facts);
  });
  return facts as PodStatusFacts;
}

function factsOf(given: unknown): PodStatusFacts {
  const { phase, reason, message, conditions, containerStatuses } = given as {
    phase: string;
    reason?: string;
    message?: string;
    conditions?: readonly Condition[];
    containerStatuses?: readonly { state?: { terminated?: { exitCode: number; reason: string } } }[];
  };
  return {
    phase,
    reason,
    message,
    conditions: (conditions ?? [])
      .map((one) => [one.type, one.status, one.reason, one.message].filter(Boolean).join(' '))
      .sort(),
    exits: (containerStatuses ?? []).map(({ state }) => `${state?.terminated?.exitCode} ${state?.terminated?.reason}`),
  };
}

/** What the container wrote, with the time of each line, ms. */
export async function linesOf(node: ShutdownNode, pod: string): Promise<readonly { text: string; at: number }[]> {
  const text = await node.sh(`cat /var/log/pods/default_${pod}_*/main/*.log 2>/dev/null || true`);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [time = '', , , ...rest] = line.split(' ');
      return { text: rest.join(' '), at: Date.parse(time) };
    });
}

export async function untilLine(node: ShutdownNode, pod: string, wanted: string): Promise<number> {
  return await until(
    `${pod} wrote ${wanted}`,
    async () => (await linesOf(node, pod)).find(({ text }) => text === wanted)?.at,
    WAIT_MS,
  );
}

/** Who delays a shutdown now. */
export async function lockHolders({ sh }: ShutdownNode): Promise<readonly string[]> {
  return (await sh(`systemd-inhibit --list --no-legend`)).split('\n').flatMap((line) => {
    const [who = ''] = line.trim().split(/\s+/);
    return line.includes('shutdown') && line.includes('delay') ? [who] : [];
  });
}

/** The kubelet's lock is taken after it is healthy. */
export async function untilLock(node: ShutdownNode, isHeld: boolean): Promise<void> {
  await until(
    `the kubelet ${isHeld ? 'holds' : 'has released'} its lock`,
    async () => ((await lockHolders(node)).includes('kubelet') === isHeld ? true : undefined),
    WAIT_MS,
  );
}

/** Begins a shutdown that stays between its begin and its end until the function that this answers is called. */
export async function beginShutdown(node: ShutdownNode): Promise<() => Promise<void>> {
  await node.sh(`systemd-run --quiet --unit=holder systemd-inhibit --what=shutdown --mode=delay --who=holder sleep 1000
    until systemd-inhibit --list --no-legend | grep -q holder; do sleep 0.1; done
    systemctl poweroff`);
  return async () => {
    await node.sh('systemctl stop holder');
  };
}

/** What a kubelet does in a shutdown: compared between the reference and ours. */
export async function recordShutdown(node: ShutdownNode) {
  const { plane, sh } = node;
  const pods = ['low', 'ignores', 'high', 'critical'] as const;
  await createPod(node, 'low', { grace: 30 });
  await createPod(node, 'ignores', { grace: 120, ignores: true });
  await createPod(node, 'high', { grace: 30, priorityClassName: 'high' });
  await createPod(node, 'critical', { grace: 30, priorityClassName: 'system-node-critical' });
  for (const pod of pods) await untilRuns(node, pod);
  await untilLock(node, true);
  const logindConfig = await sh('cat /etc/systemd/logind.conf.d/99-kubelet.conf');
  const cancel = await beginShutdown(node);
  const notReady = await untilNode(plane, 'False');
  const statuses: Record<string, PodStatusFacts> = {};
  for (const pod of pods) statuses[pod] = await untilEnded(node, pod);
  const lines: { pod: string; text: string; at: number }[] = [];
  for (const pod of pods) lines.push(...(await linesOf(node, pod)).map((line) => ({ pod, ...line })));
  await untilLock(node, false);
  await createPod(node, 'late', { grace: 1 });
  statuses['late'] = await untilEnded(node, 'late');
  const state = JSON.parse(await sh('cat /var/lib/kubelet/graceful_node_shutdown_state')) as Record<string, string>;
  await cancel();
  await untilNode(plane, 'True');
  return {
    logindConfig,
    notReady,
    statuses,
    order: lines
      .filter(({ text }) => text !== 'up')
      .sort((left, right) => left.at - right.at)
      .map(({ pod, text }) => `${pod} ${text}`),
    state: Object.keys(state),
    ended: Object.values(state).every((time) => !time.startsWith('0001')),
    /** ms from the signal to the end of the one that ignores it. */
    lines,
  };
}

/** The messages of events about the node's end. */
export async function nodeEvents({ plane }: ShutdownNode): Promise<readonly string[]> {
  const { items } = (await plane.admin.get('/api/v1/events')) as unknown as {
    items: readonly { reason: string; type: string; message: string; involvedObject: { kind: string } }[];
  };
  return items
    .filter(({ involvedObject, reason }) => involvedObject.kind === 'Node' && /Shutdown|Drain/.test(reason))
    .map(({ type, reason, message }) => `${type} ${reason} ${message}`);
}

export const RECORDED = join(import.meta.dirname, 'testdata/shutdown-reference.json');
