/**
 * The gates whose feature this kubelet has, each with its file below `src/`. A gate that is on but not listed has no effect:
 * its feature is not built yet, or it belongs to another component (one list of gates is often given to every component of a cluster).
 * built-gates.test.ts compares the table with the code.
 */
import type { GateName } from './gates.ts';

export const builtGates: Readonly<Partial<Record<GateName, string>>> = {
  AllowParsingUserUIDFromCertAuth: 'server/auth/client-certificate.ts',
  ClientsAllowCARotation: 'kube/pem-files.ts',
  ClusterTrustBundle: 'objects/trust-bundles.ts',
  ClusterTrustBundleProjection: 'objects/settings.ts',
  ComponentFlagz: 'compose/server.ts',
  ComponentStatusz: 'compose/server.ts',
  ContainerCheckpoint: 'compose/streams.ts',
  ContainerRestartRules: 'sources/settings.ts',
  ContainerStopSignals: 'runtime/spec/container.ts',
  CustomCPUCFSQuotaPeriod: 'runtime/spec/resources.ts',
  DisableCPUQuotaWithExclusiveCPUs: 'resources/managers.ts',
  DisableNodeKubeProxyVersion: 'node/rules/node-info.ts',
  EnvFiles: 'runtime/spec/environment.ts',
  EventedPLEG: 'runtime/observe/events.ts',
  ExecProbeTimeout: 'probes/checks/exec.ts',
  GracefulNodeShutdown: 'shutdown/settings.ts',
  GracefulNodeShutdownBasedOnPodPriority: 'shutdown/settings.ts',
  HostnameOverride: 'compose/requests.ts',
  ImageMaximumGCAge: 'images/rules/garbage.ts',
  ImageVolume: 'volumes/kinds/image.ts',
  InPlacePodLevelResourcesVerticalScaling: 'compose/workers.ts',
  InPlacePodVerticalScaling: 'pods/resizes.ts',
  InPlacePodVerticalScalingInitContainers: 'compose/workers.ts',
  KubeletCgroupDriverFromCRI: 'compose/resources.ts',
  KubeletCrashLoopBackOffMax: 'compose/workers.ts',
  KubeletEnsureSecretPulledImages: 'images/rules/settings.ts',
  KubeletFineGrainedAuthz: 'server/auth/authorize.ts',
  KubeletPodResourcesGet: 'server/pod-resources/pod-resources.ts',
  KubeletPodResourcesListUseActivePods: 'compose/pod-resources.ts',
  KubeletRegistrationGetOnExistsOnly: 'node/settings.ts',
  KubeletServiceAccountTokenForCredentialProviders: 'images/rules/settings.ts',
  LoggingAlphaOptions: 'telemetry/log-settings.ts',
  LoggingBetaOptions: 'telemetry/log-settings.ts',
  MemoryQoS: 'runtime/spec/memory-qos.ts',
  NodeDeclaredFeatures: 'node/rules/node-info.ts',
  NodeLogQuery: 'compose/streams.ts',
  NodeSwap: 'runtime/spec/swap.ts',
  PLEGOnDemandRelist: 'runtime/observe/observe.ts',
  PodAndContainerStatsFromCRI: 'stats/settings.ts',
  PodCertificateRequest: 'objects/pod-certificates.ts',
  PodLevelResourceManagers: 'resources/settings.ts',
  PodLevelResources: 'resources/settings.ts',
  PodLifecycleSleepAction: 'probes/hooks.ts',
  PodLifecycleSleepActionAllowZero: 'probes/hooks.ts',
  PodLogsQuerySplitStreams: 'compose/streams.ts',
  PodObservedGenerationTracking: 'status/rules/compute-status.ts',
  PodReadyToStartContainersCondition: 'status/settings.ts',
  PreventStaticPodAPIReferences: 'sources/settings.ts',
  ProcMountType: 'runtime/spec/security.ts',
  QOSReserved: 'resources/settings.ts',
  RecursiveReadOnlyMounts: 'runtime/spec/container.ts',
  RelaxedDNSSearchValidation: 'api/pod-validation/text-rules.ts',
  RelaxedEnvironmentVariableValidation: 'api/pod-validation/env.ts',
  ReloadKubeletClientCAFile: 'server/tls/certificate.ts',
  ReloadKubeletServerCertificateFile: 'server/tls/certificate.ts',
  ResourceHealthStatus: 'compose/status.ts',
  RestartAllContainersOnContainerExits: 'status/settings.ts',
  SidecarContainers: 'plan/roles.ts',
  SupplementalGroupsPolicy: 'runtime/spec/security.ts',
  TaintTolerationComparisonOperators: 'pods/admission.ts',
  UserNamespacesHostNetworkSupport: 'runtime/spec/namespaces.ts',
  UserNamespacesSupport: 'runtime/spec/namespaces.ts',
  WatchListClient: 'kube/watch.ts',
};

/** Gates that code reads although their feature is not built, and what it reads them for. */
export const readAhead: Readonly<Partial<Record<GateName, string>>> = {
  ExtendWebSocketsToKubelet: 'to declare the feature once it is built',
  SELinuxMount: 'for the validation of static pods: volumes are not mounted with SELinux labels',
};

/** Built and always on, although the gate of the reference can disable it. */
export const alwaysBuilt: ReadonlySet<GateName> = new Set<GateName>([
  'AllowParsingUserUIDFromCertAuth',
  'ClientsAllowCARotation',
  'ClusterTrustBundle',
  'EventedPLEG',
  'LoggingBetaOptions',
  'PLEGOnDemandRelist',
  'ReloadKubeletClientCAFile',
  'ReloadKubeletServerCertificateFile',
  'WatchListClient',
]);

export function isBuilt(name: string): boolean {
  return Object.hasOwn(builtGates, name);
}
