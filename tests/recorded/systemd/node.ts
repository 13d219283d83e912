/** The node that was recorded under the reference kubelet with the cgroup driver systemd, and its pods. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ContainerState } from '../../../src/wire/gen/cri-runtime-v1.ts';
import { eventually } from '../../lab/static-pods.ts';
import type { SystemNode } from '../../lab/system/node.ts';
import { type CgroupTree, parseTree, treeScript } from './tree.ts';

const container = (name: string, resources: object) => ({
  name,
  image: 'lab.local/busybox:1',
  command: ['sh', '-c', `trap 'exit 0' TERM; while true; do sleep 0.1; done`],
  resources,
});
const amounts = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { cpu, memory } });

/** One of each QoS class, and what makes a difference within a class. */
export const RECORDED_PODS: Readonly<Record<string, object>> = {
  'best-effort': { containers: [container('a', {})] },
  burstable: {
    containers: [
      container('a', { requests: { cpu: '150m', memory: '16Mi' }, limits: { cpu: '234m', memory: '64Mi' } }),
      container('b', { requests: { cpu: '50m' }, limits: { cpu: '101m', memory: '32Mi' } }),
    ],
  },
  unlimited: { containers: [container('a', { requests: { cpu: '20m', memory: '8Mi' } })] },
  guaranteed: { containers: [container('a', amounts('125m', '48Mi'))] },
  'pod-level': { containers: [container('a', {})], resources: amounts('300m', '96Mi') },
};

export const RECORDED_CONFIG = {
  podPidsLimit: 200,
  systemReserved: { cpu: '150m', memory: '256Mi', pid: '900' },
  kubeReserved: { cpu: '50m', memory: '128Mi', pid: '800' },
  enforceNodeAllocatable: ['pods', 'system-reserved', 'kube-reserved'],
  systemReservedCgroup: '/sysreserved.slice',
  kubeReservedCgroup: '/kubereserved.slice',
};
/** Slices for what is reserved must be there before a kubelet starts. */
export const RESERVED_SLICES = ['sysreserved.slice', 'kubereserved.slice'];
export const RESERVED_UNITS = Object.fromEntries(
  RESERVED_SLICES.map((name) => [`systemd/system/${name}`, '[Slice]\nCPUAccounting=yes\nMemoryAccounting=yes\n']),
);
/** systemd makes a slice only in the hierarchies that it needs; who reserves something for one must make the others. */
export const RESERVED_SCRIPT = `for slice in ${RESERVED_SLICES.join(' ')}; do
  for hierarchy in /sys/fs/cgroup/*/; do [ -f $hierarchy/cgroup.procs ] && mkdir -p $hierarchy/$slice; done; done; true`;
export const RECORDED_UNITS = [
  'kubepods.slice',
  'kubepods-burstable.slice',
  'kubepods-besteffort.slice',
  ...RESERVED_SLICES,
];
export const RECORDED_PATHS = ['/kubepods.slice', '/sysreserved.slice', '/kubereserved.slice'];

export const loadTree = (name: 'v1' | 'v2'): CgroupTree =>
  JSON.parse(readFileSync(join(import.meta.dirname, `${name}.json`), 'utf8')) as CgroupTree;

const never = new AbortController().signal;

/** Waits until every container of the pods runs. Answers what stands for each UID and id. */
export async function namesOfPods({ cri, nodeName }: Pick<SystemNode, 'cri' | 'nodeName'>) {
  const names = new Map<string, string>();
  for (const [pod, spec] of Object.entries(RECORDED_PODS)) {
    const labels = { labelSelector: { 'io.kubernetes.pod.name': `${pod}-${nodeName}` } };
    const expected = (spec as { containers: readonly object[] }).containers.length;
    const running = await eventually(
      `${pod} runs`,
      async () => {
        const all = await cri.containers.list(labels, never);
        const up = all.filter(({ state }) => state === ContainerState.CONTAINER_RUNNING);
        return up.length === expected ? up : undefined;
      },
      120_000,
    );
    for (const one of running) names.set(one.id, `${pod}.${one.metadata?.name}`);
    for (const one of await cri.sandboxes.list(labels, never)) {
      names.set(one.id, `${pod}.sandbox`);
      names.set(one.metadata?.uid ?? '', `UID.${pod}`);
    }
  }
  return names;
}

export async function readTree(node: SystemNode): Promise<CgroupTree> {
  const names = await namesOfPods(node);
  return parseTree(await node.sh(treeScript(RECORDED_PATHS, RECORDED_UNITS)), names);
}
