/** Which cgroups are read, and what each of them is. */

export interface StatsContainer {
  readonly id: string;
  readonly name: string;
  readonly image: string;
  /** Wall clock, milliseconds. */
  readonly createdAt: number;
  readonly cgroup: string;
}

export interface StatsPod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly cgroup: string;
  /** Undefined while there is none that is ready. */
  readonly sandbox: { readonly id: string; readonly createdAt: number; readonly cgroup: string } | undefined;
  /** Those that run. */
  readonly containers: readonly StatsContainer[];
}

/** The last container of a name that does not run now, and whose cgroup is gone. */
export interface EndedContainer extends Pick<StatsContainer, 'id' | 'image' | 'cgroup'> {
  readonly container: string;
  readonly pod: Pick<StatsPod, 'uid' | 'name' | 'namespace'>;
  readonly oomKills: number;
}

/** The cgroups that are not a pod's. */
export interface NodeGroups {
  /** Above all pods; undefined where pods have no cgroups of their own. */
  readonly pods: string | undefined;
  /** Below it, for the QoS classes. */
  readonly classes: readonly string[];
  /** Named as the summary names them: `kubelet`, `runtime`, `misc`. */
  readonly system: Readonly<Record<string, string>>;
}

export interface Target {
  /** Below the root of the hierarchies, `/` for the node. */
  readonly path: string;
  readonly kind: 'node' | 'group' | 'pod' | 'sandbox' | 'container';
  readonly pod: StatsPod | undefined;
  /** Of a sandbox or container, as the runtime knows it. */
  readonly id: string;
  readonly container: string;
  readonly image: string;
  /** Wall clock, milliseconds; undefined where only the kernel knows. Few do: those are remembered by path. */
  readonly startedAt: number | undefined;
}

const group = (path: string): Target => ({
  path,
  kind: path === '/' ? 'node' : 'group',
  pod: undefined,
  id: '',
  container: '',
  image: '',
  startedAt: undefined,
});

/** The node first, then what holds pods, then pods with what is in them. */
export function planTargets(groups: NodeGroups, pods: readonly StatsPod[]): readonly Target[] {
  const above = ['/', ...Object.values(groups.system), ...(groups.pods === undefined ? [] : [groups.pods])];
  const paths = new Set([...above, ...groups.classes]);
  return [...[...paths].map(group), ...pods.flatMap(targetsOf)];
}

const containerTarget = (pod: StatsPod, { cgroup, id, name, image, createdAt }: StatsContainer): Target => ({
  path: cgroup,
  kind: 'container',
  pod,
  id,
  container: name,
  image,
  startedAt: createdAt,
});

function targetsOf(pod: StatsPod): readonly Target[] {
  const { sandbox, containers } = pod;
  const base = { pod, id: '', container: '', image: '', startedAt: sandbox?.createdAt ?? 0 };
  return [
    { ...base, path: pod.cgroup, kind: 'pod' },
    ...(sandbox === undefined ? [] : [{ ...base, path: sandbox.cgroup, kind: 'sandbox', id: sandbox.id } as const]),
    ...containers.map((one) => containerTarget(pod, one)),
  ];
}
