/**
 * The settings that only the command line has (with a few old fields of the configuration file): the KubeletConfiguration has no
 * fields for these. Durations are milliseconds; an empty string means "not given", as on the command line.
 */
export type Settings = {
  readonly sources: {
    readonly configFile: string;
    readonly configDir: string;
    readonly strict: boolean;
    /** Directory for the checkpoints of dynamic configuration; empty disables it. */
    readonly dynamicConfigDir: string;
  };
  readonly directories: { readonly root: string; readonly certificates: string };
  readonly api: {
    /** Empty: standalone. With `--require-kubeconfig` and nothing else given, the old default path. */
    readonly kubeconfig: string;
    readonly bootstrapKubeconfig: string;
    readonly requireKubeconfig: boolean;
    readonly authPath: string;
    readonly masterServiceNamespace: string;
  };
  readonly node: {
    readonly hostnameOverride: string;
    /** As given, one or two addresses; an unusable one gets a warning, since the reference accepts it. */
    readonly ips: readonly string[];
    readonly labels: Readonly<Record<string, string>>;
    readonly reportedVersion: string;
  };
  readonly cloud: { readonly provider: string; readonly configFile: string };
  readonly lock: { readonly file: string; readonly exitOnContention: boolean };
  readonly containers: {
    readonly runtime: string;
    readonly runtimeCgroups: string;
    readonly seccompDefault: boolean;
    readonly mounterPath: string;
    readonly deadMinimumAge: number;
    readonly deadPerContainer: number;
    /** Negative: no limit. */
    readonly deadTotal: number;
    readonly allocatableIgnoresEviction: boolean;
  };
  readonly images: {
    /** Our own: names of images that are never removed to free space; a name may end in `*`. */
    readonly keep: readonly string[];
  };
  readonly eviction: {
    /** Our own: what counts as available memory, `workingSet` or `available`. */
    readonly memorySignal: string;
  };
  readonly credentials: { readonly providerConfig: string; readonly providerBinDir: string };
  readonly network: {
    readonly plugin: string;
    readonly cniConfDir: string;
    readonly cniBinDir: string;
  };
  readonly cadvisor: CadvisorSettings;
};

/** cAdvisor's own flags, which the reference got by accident and keeps for compatibility. */
export type CadvisorSettings = {
  /** 0 disables the page. */
  readonly port: number;
  readonly bindAddress: string;
  readonly housekeepingInterval: number;
  readonly globalHousekeepingInterval: number;
  readonly applicationMetricsCountLimit: number;
  readonly bootIdFile: string;
  readonly machineIdFile: string;
  /** Our own: which families `/metrics/cadvisor` shows, `full` or `lean`. */
  readonly metricsProfile: string;
  readonly metricsAllow: readonly string[];
  readonly metricsDeny: readonly string[];
  readonly containerHints: string;
  readonly containerd: string;
  readonly containerdNamespace: string;
  readonly enableLoadReader: boolean;
  readonly eventStorageAgeLimit: string;
  readonly eventStorageEventLimit: string;
  readonly logUsage: boolean;
  readonly storage: {
    readonly bufferDuration: number;
    readonly db: string;
    readonly host: string;
    readonly password: string;
    readonly secure: boolean;
    readonly table: string;
    readonly user: string;
  };
};

/** The kubeconfig of `--require-kubeconfig` without a path. */
export const requiredKubeconfigPath = '/var/lib/kubelet/kubeconfig';

export const defaultSettings: Settings = {
  sources: { configFile: '', configDir: '', strict: false, dynamicConfigDir: '' },
  directories: { root: '/var/lib/kubelet', certificates: '/var/lib/kubelet/pki' },
  api: {
    kubeconfig: '',
    bootstrapKubeconfig: '',
    requireKubeconfig: false,
    authPath: '',
    masterServiceNamespace: 'default',
  },
  node: { hostnameOverride: '', ips: [], labels: {}, reportedVersion: 'v1.36.4' },
  cloud: { provider: '', configFile: '' },
  lock: { file: '', exitOnContention: false },
  containers: {
    runtime: 'remote',
    runtimeCgroups: '',
    seccompDefault: false,
    mounterPath: '',
    deadMinimumAge: 0,
    deadPerContainer: 1,
    deadTotal: -1,
    allocatableIgnoresEviction: false,
  },
  images: { keep: [] },
  eviction: { memorySignal: 'workingSet' },
  credentials: { providerConfig: '', providerBinDir: '' },
  network: { plugin: '', cniConfDir: '/etc/cni/net.d', cniBinDir: '/opt/cni/bin' },
  cadvisor: {
    port: 4194,
    bindAddress: '127.0.0.1',
    housekeepingInterval: 10_000,
    globalHousekeepingInterval: 60_000,
    applicationMetricsCountLimit: 100,
    bootIdFile: '/proc/sys/kernel/random/boot_id',
    machineIdFile: '/etc/machine-id,/var/lib/dbus/machine-id',
    metricsProfile: 'full',
    metricsAllow: [],
    metricsDeny: [],
    containerHints: '/etc/cadvisor/container_hints.json',
    containerd: '/run/containerd/containerd.sock',
    containerdNamespace: 'k8s.io',
    enableLoadReader: false,
    eventStorageAgeLimit: 'default=0',
    eventStorageEventLimit: 'default=0',
    logUsage: false,
    storage: {
      bufferDuration: 60_000,
      db: 'cadvisor',
      host: 'localhost:8086',
      password: 'root',
      secure: false,
      table: 'stats',
      user: 'root',
    },
  },
};
