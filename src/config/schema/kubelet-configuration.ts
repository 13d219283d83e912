/**
 * Every field of KubeletConfiguration (kubelet.config.k8s.io/v1beta1) at 1.36, in the order in which /configz shows
 * them. A field is `explicit` if the API distinguishes a written zero from an absent value, else `plain`.
 */
import {
  bool,
  duration,
  durationOrNanoseconds,
  explicit,
  float64,
  int32,
  int64,
  list,
  live,
  map,
  optional,
  type PartialValue,
  path,
  plain,
  quantity,
  shown,
  string,
  struct,
  uint32,
  type Value,
} from './kinds.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const authentication = struct({
  x509: plain(struct({ clientCAFile: plain(path) })),
  webhook: plain(struct({ enabled: explicit(bool, true), cacheTTL: plain(duration, 2 * MINUTE) })),
  anonymous: plain(struct({ enabled: explicit(bool, false) })),
});

const authorization = struct({
  mode: plain(string, 'Webhook'),
  webhook: plain(
    struct({
      cacheAuthorizedTTL: plain(duration, 5 * MINUTE),
      cacheUnauthorizedTTL: plain(duration, 30 * SECOND),
    }),
  ),
});

const logStream = struct({ splitStream: plain(bool), infoBufferSize: plain(quantity) });

const logging = struct({
  format: plain(string, 'text'),
  flushFrequency: plain(durationOrNanoseconds, 5 * SECOND),
  verbosity: live(shown(uint32)),
  vmodule: live(plain(list(struct({ filePattern: shown(string), verbosity: shown(uint32) })))),
  options: plain(struct({ text: plain(logStream), json: plain(logStream) })),
});

const taint = struct({ key: shown(string), value: plain(string), effect: shown(string) });
const memoryReservation = struct({ numaNode: shown(int32), limits: shown(map(quantity)) });
const shutdownByPriority = struct({ priority: shown(int32), shutdownGracePeriodSeconds: shown(int64) });

export const kubeletConfiguration = struct({
  enableServer: explicit(bool, true),
  staticPodPath: plain(path),
  podLogsDir: plain(path, '/var/log/pods'),
  syncFrequency: plain(duration, MINUTE),
  fileCheckFrequency: plain(duration, 20 * SECOND),
  httpCheckFrequency: plain(duration, 20 * SECOND),
  staticPodURL: plain(string),
  staticPodURLHeader: plain(map(list(string))),
  address: plain(string, '0.0.0.0'),
  port: plain(int32, 10250),
  readOnlyPort: plain(int32),
  tlsCertFile: plain(path),
  tlsPrivateKeyFile: plain(path),
  tlsCipherSuites: plain(list(string)),
  tlsCurvePreferences: plain(list(int32)),
  tlsMinVersion: plain(string),
  rotateCertificates: plain(bool),
  serverTLSBootstrap: plain(bool),
  authentication: plain(authentication),
  authorization: plain(authorization),
  registryPullQPS: explicit(int32, 5),
  registryBurst: plain(int32, 10),
  // Its default depends on a feature gate: defaults.ts.
  imagePullCredentialsVerificationPolicy: plain(string),
  preloadedImagesVerificationAllowlist: plain(list(string)),
  eventRecordQPS: explicit(int32, 50),
  eventBurst: plain(int32, 100),
  enableDebuggingHandlers: explicit(bool, true),
  enableContentionProfiling: plain(bool),
  healthzPort: explicit(int32, 10248),
  healthzBindAddress: plain(string, '127.0.0.1'),
  oomScoreAdj: explicit(int32, -999),
  clusterDomain: plain(string),
  clusterDNS: plain(list(string)),
  streamingConnectionIdleTimeout: plain(duration, 4 * HOUR),
  nodeStatusUpdateFrequency: plain(duration, 10 * SECOND),
  // 5 minutes, or the update frequency if only that was written: defaults.ts.
  nodeStatusReportFrequency: plain(duration),
  nodeLeaseDurationSeconds: plain(int32, 40),
  imageMinimumGCAge: plain(duration, 2 * MINUTE),
  imageMaximumGCAge: plain(duration),
  imageGCHighThresholdPercent: explicit(int32, 85),
  imageGCLowThresholdPercent: explicit(int32, 80),
  volumeStatsAggPeriod: plain(duration, MINUTE),
  kubeletCgroups: plain(string),
  systemCgroups: plain(string),
  cgroupRoot: plain(string),
  cgroupsPerQOS: explicit(bool, true),
  cgroupDriver: plain(string, 'cgroupfs'),
  cpuManagerPolicy: plain(string, 'none'),
  singleProcessOOMKill: optional(bool),
  cpuManagerPolicyOptions: plain(map(string)),
  cpuManagerReconcilePeriod: plain(duration, 10 * SECOND),
  memoryManagerPolicy: plain(string, 'None'),
  topologyManagerPolicy: plain(string, 'none'),
  topologyManagerScope: plain(string, 'container'),
  topologyManagerPolicyOptions: plain(map(string)),
  qosReserved: plain(map(string)),
  runtimeRequestTimeout: plain(duration, 2 * MINUTE),
  hairpinMode: plain(string, 'promiscuous-bridge'),
  maxPods: plain(int32, 110),
  podCIDR: plain(string),
  podPidsLimit: explicit(int64, -1),
  resolvConf: explicit(path, '/etc/resolv.conf'),
  runOnce: plain(bool),
  cpuCFSQuota: explicit(bool, true),
  cpuCFSQuotaPeriod: explicit(duration, 100),
  nodeStatusMaxImages: explicit(int32, 50),
  maxOpenFiles: plain(int64, 1_000_000),
  contentType: plain(string, 'application/vnd.kubernetes.protobuf'),
  kubeAPIQPS: explicit(int32, 50),
  kubeAPIBurst: plain(int32, 100),
  // False if maxParallelImagePulls is more than one: defaults.ts.
  serializeImagePulls: explicit(bool, true),
  maxParallelImagePulls: optional(int32),
  // The defaults belong to the configuration file alone: defaults.ts.
  evictionHard: plain(map(string)),
  evictionSoft: plain(map(string)),
  evictionSoftGracePeriod: plain(map(string)),
  evictionPressureTransitionPeriod: plain(duration, 5 * MINUTE),
  evictionMaxPodGracePeriod: plain(int32),
  evictionMinimumReclaim: plain(map(string)),
  mergeDefaultEvictionSettings: explicit(bool, false),
  podsPerCore: plain(int32),
  enableControllerAttachDetach: explicit(bool, true),
  protectKernelDefaults: plain(bool),
  makeIPTablesUtilChains: explicit(bool, true),
  iptablesMasqueradeBit: explicit(int32, 14),
  iptablesDropBit: explicit(int32, 15),
  featureGates: plain(map(bool)),
  failSwapOn: explicit(bool, true),
  memorySwap: plain(struct({ swapBehavior: plain(string) })),
  containerLogMaxSize: plain(string, '10Mi'),
  containerLogMaxFiles: explicit(int32, 5),
  containerLogMaxWorkers: explicit(int32, 1),
  containerLogMonitorInterval: explicit(duration, 10 * SECOND),
  configMapAndSecretChangeDetectionStrategy: plain(string, 'Watch'),
  systemReserved: plain(map(string)),
  kubeReserved: plain(map(string)),
  reservedSystemCPUs: plain(string),
  showHiddenMetricsForVersion: plain(string),
  systemReservedCgroup: plain(string),
  kubeReservedCgroup: plain(string),
  enforceNodeAllocatable: plain(list(string), ['pods']),
  allowedUnsafeSysctls: plain(list(string)),
  volumePluginDir: plain(path, '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/'),
  providerID: plain(string),
  kernelMemcgNotification: plain(bool),
  logging: plain(logging),
  enableSystemLogHandler: explicit(bool, true),
  enableSystemLogQuery: explicit(bool, false),
  shutdownGracePeriod: plain(duration),
  shutdownGracePeriodCriticalPods: plain(duration),
  shutdownGracePeriodByPodPriority: plain(list(shutdownByPriority)),
  // The default of its period depends on a feature gate: defaults.ts.
  crashLoopBackOff: plain(struct({ maxContainerRestartPeriod: optional(duration) })),
  reservedMemory: plain(list(memoryReservation)),
  enableProfilingHandler: explicit(bool, true),
  enableDebugFlagsHandler: explicit(bool, true),
  seccompDefault: explicit(bool, false),
  memoryThrottlingFactor: explicit(float64, 0.9),
  memoryReservationPolicy: plain(string, 'None'),
  registerWithTaints: plain(list(taint)),
  registerNode: explicit(bool, true),
  tracing: optional(struct({ endpoint: optional(string), samplingRatePerMillion: optional(int32) })),
  localStorageCapacityIsolation: explicit(bool, true),
  containerRuntimeEndpoint: shown(string, 'unix:///run/containerd/containerd.sock'),
  imageServiceEndpoint: plain(string),
  failCgroupV1: explicit(bool, true),
  userNamespaces: optional(struct({ idsPerPod: optional(int64) })),
});

export const KUBELET_CONFIGURATION_KIND = 'KubeletConfiguration';
export const KUBELET_CONFIGURATION_VERSION = 'kubelet.config.k8s.io/v1beta1';

/** Complete: only optional fields are `| undefined`. Durations are milliseconds. */
export type KubeletConfiguration = Value<typeof kubeletConfiguration>;

/** Only the fields that were set. */
export type PartialKubeletConfiguration = PartialValue<typeof kubeletConfiguration>;
