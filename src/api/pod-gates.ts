/** The feature gates that decide what a pod may say. */
export interface PodGates {
  /** ContainerRestartRules. */
  readonly restartRules: boolean;
  /** RestartAllContainersOnContainerExits. */
  readonly restartAllContainers: boolean;
  /** TaintTolerationComparisonOperators. */
  readonly tolerationComparisons: boolean;
  /** UserNamespacesHostNetworkSupport. */
  readonly userNamespacesOnHostNetwork: boolean;
  /** PodLevelResources. */
  readonly podLevelResources: boolean;
  /** SELinuxMount. */
  readonly seLinuxMount: boolean;
}

/** As they are when no one says otherwise. */
export const DEFAULT_POD_GATES: PodGates = {
  restartRules: true,
  restartAllContainers: true,
  tolerationComparisons: false,
  userNamespacesOnHostNetwork: false,
  podLevelResources: true,
  seLinuxMount: false,
};
