/**
 * The node suite in sets: specs that fit together in one world, because they may run side by side or because the suite itself is
 * started in another way for them.
 */
export interface SpecSet {
  readonly name: string;
  readonly about: string;
  /** Regular expressions over the full names of specs, as ginkgo reads them. */
  readonly focus: string;
  readonly skip: string;
  /** Specs that run at the same time. */
  readonly procs: number;
  readonly minutes: number;
  readonly suiteFlags?: readonly string[];
  readonly kubeletFlags?: readonly string[];
  /** Why a run without SET leaves it out: work that is still to come. */
  readonly later?: string;
}

const any = (...patterns: readonly string[]): string => patterns.join('|');

/** What can't pass on this kind of machine, whatever the kubelet, and takes long to fail; or is no test of behaviour. */
const NEVER = any(
  '\\[Flaky\\]',
  '\\[Benchmark\\]',
  'NodeProblemDetector',
  'Node Performance',
  'Density',
  'Resource-usage',
  'SRIOV',
  'GPU',
  '\\[Feature:OffByDefault\\]',
  'cap back-off at MaxContainerBackOff',
  '\\[Feature:OOMScoreAdj\\]', // needs CAP_SYS_RESOURCE
);
const SERIAL = any('\\[Serial\\]', '\\[Slow\\]', '\\[Disruptive\\]');
/** The suite or the kubelet is started with other flags for these. */
const STARTED_OTHERWISE = any('\\[Feature:CriProxy\\]', '\\[Feature:StandaloneMode\\]', '\\[Feature:LockContention\\]');
const RESTARTS = any(
  '\\] Restart ',
  'Unknown Pods',
  'Kubelet Config ',
  'KubletTLS', // upstream's spelling
  'ReloadKubelet',
  'Kubelet Endpoints',
  'Containers Lifecycle when (A node|The kubelet)',
  'MirrorPod',
  'StaticPod',
  'OSArchLabel',
  'RestartAllContainersWithKubelet',
  'Pods status phase',
  'Not Change Container',
);
const DEVICES = any('Device Plugin', 'Device Manager', 'DeviceManager', 'POD Resources', 'Kubelet Pods API');
const MANAGERS = any('CPU Manager', 'Memory Manager', 'Topology Manager', 'HugePages');
const MEMORY_EVICTION = any('MemoryAllocatableEviction', 'PriorityMemory', 'PriorityPid', 'SystemNodeCritical');
const DISK_EVICTION = any('LocalStorage', 'InodeEviction', 'ImageGCNo', 'ImageGCTerm', 'KubeletSeparateDisk');
const GARBAGE = any('\\] GarbageCollect', '\\] ImageGarbageCollect');
/** Limits of memory and of process ids that a container reaches. */
const LIMITS = any('OOMKiller', 'PodPidsLimit');
const PREEMPTION = '\\] CriticalPod';
const CREDENTIALS = 'Ensure Credential';
const MISSING_SOURCES = 'Should fail non-optional'; // five minutes of waiting each

/** Both words in a name, in either order. */
const both = (a: string, b: string): string => `(${a}).*(${b})|(${b}).*(${a})`;
const COMMON = any(NEVER, STARTED_OTHERWISE);
const alone = { skip: COMMON, procs: 1, minutes: 45 } as const;

export const SETS: readonly SpecSet[] = [
  {
    name: 'conformance',
    about: 'NodeConformance specs that run side by side',
    focus: '\\[NodeConformance\\]',
    skip: any(COMMON, SERIAL),
    procs: 4,
    minutes: 90,
  },
  {
    name: 'parallel',
    about: 'the other specs that run side by side',
    focus: '.',
    skip: any(COMMON, SERIAL, '\\[NodeConformance\\]', 'InPlace'),
    procs: 3,
    minutes: 60,
  },
  {
    ...alone,
    name: 'restarts',
    about: 'restarts of kubelet, runtime and node; configuration; static and mirror pods',
    focus: both(RESTARTS, SERIAL),
  },
  { ...alone, name: 'limits', about: 'processes killed for lack of memory, limits of process ids', focus: LIMITS },
  { ...alone, name: 'preemption', about: 'critical pods on a full node', focus: PREEMPTION },
  { ...alone, name: 'credentials', about: 'images that only pods with credentials may use', focus: CREDENTIALS },
  {
    ...alone,
    name: 'criproxy',
    about: 'faults of the runtime, injected between it and the kubelet',
    focus: '\\[Feature:CriProxy\\]',
    skip: NEVER,
    suiteFlags: ['--cri-proxy-enabled=true'],
  },
  {
    ...alone,
    name: 'standalone',
    about: 'a kubelet without an API server',
    focus: '\\[Feature:StandaloneMode\\]',
    skip: NEVER,
    suiteFlags: ['--standalone-mode=true'],
  },
  {
    ...alone,
    name: 'lock',
    about: 'a kubelet that ends when another one wants its lock',
    focus: '\\[Feature:LockContention\\]',
    skip: NEVER,
    kubeletFlags: ['--exit-on-lock-contention', '--lock-file=/var/run/kubelet.lock'],
  },
  {
    ...alone,
    name: 'serial',
    about: 'what must have the node for itself and has no set of its own',
    focus: SERIAL,
    skip: any(
      COMMON,
      MANAGERS,
      DEVICES,
      '\\[DRA\\]',
      CREDENTIALS,
      MEMORY_EVICTION,
      DISK_EVICTION,
      GARBAGE,
      LIMITS,
      PREEMPTION,
      RESTARTS,
      'GracefulNodeShutdown',
      MISSING_SOURCES,
    ),
    minutes: 90,
    later: 'much of it is about stats, swap and memory protection; not compared with the reference yet',
  },
  {
    ...alone,
    name: 'slow',
    about: 'pods that wait for config maps and secrets that never come',
    focus: MISSING_SOURCES,
    procs: 8,
    later: 'five minutes of waiting each',
  },
  {
    name: 'resize',
    about: 'pods that are resized in place',
    focus: 'InPlace',
    skip: any(COMMON, SERIAL, 'guaranteed qos'), // a score of -997 needs CAP_SYS_RESOURCE
    procs: 4,
    minutes: 90,
  },
  { ...alone, name: 'cpu', about: 'the CPU manager', focus: 'CPU Manager', later: 'the CPU manager is not built' },
  {
    ...alone,
    name: 'memory',
    about: 'memory and topology manager, huge pages',
    focus: any('Memory Manager', 'Topology Manager', 'HugePages'),
    skip: any(COMMON, 'CPU Manager'),
    later: 'the memory and topology managers are not built',
  },
  {
    ...alone,
    name: 'devices',
    about: 'device plugins and the pod-resources API',
    focus: both(DEVICES, '\\[Serial\\]'),
    later: 'device plugins are not built',
  },
  { ...alone, name: 'dra', about: 'resource claims', focus: '\\[DRA\\]', later: 'resource claims are not built' },
  {
    ...alone,
    name: 'evict-memory',
    about: 'eviction for memory and process ids',
    focus: MEMORY_EVICTION,
    minutes: 70,
  },
  {
    ...alone,
    name: 'evict-disk',
    about: 'eviction for disk space and inodes',
    focus: DISK_EVICTION,
    minutes: 120,
    later: 'fills gigabytes; inodes and image garbage collection are not compared with the reference yet',
  },
  { ...alone, name: 'garbage', about: 'garbage collection of containers and images', focus: GARBAGE },
  {
    ...alone,
    name: 'shutdown',
    about: 'graceful node shutdown',
    focus: 'GracefulNodeShutdown',
  },
];

/** What FOCUS without SET runs in: specs one after the other. */
export const FOCUS_SET: Omit<SpecSet, 'focus'> = {
  ...alone,
  name: 'focus',
  about: 'specs chosen by FOCUS',
  skip: NEVER,
  minutes: 180,
};

/** The sets that a person named; all that are not for later if none. */
export function chooseSets(names: readonly string[]): readonly SpecSet[] {
  const known = SETS.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`SET: no set named ${unknown.join(', ')}; there are ${known.join(', ')}`);
  return SETS.filter(({ name, later }) => (names.length === 0 ? later === undefined : names.includes(name)));
}
