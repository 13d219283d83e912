/** What statuses take from the configuration of the whole kubelet. */
import type { Config } from '../config/config.ts';
import type { StatusGates } from './rules/status-input.ts';

export function statusGates({ features }: Config): StatusGates {
  return {
    podReadyToStartContainers: features.enabled('PodReadyToStartContainersCondition'),
    containerStopSignals: features.enabled('ContainerStopSignals'),
    podLevelResources: features.enabled('PodLevelResources'),
    inPlacePodLevelResources: features.enabled('InPlacePodLevelResourcesVerticalScaling'),
    restartAllContainers: features.enabled('RestartAllContainersOnContainerExits'),
  };
}
