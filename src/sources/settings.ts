/** What the sources of pods need to know of the configuration. */
import { join } from 'node:path';
import type { PodGates } from '../api/pod-gates.ts';
import type { Config } from '../config/config.ts';
import type { SourcesConfig } from './sources.ts';

export function sourcesConfig({ kubelet, settings, features }: Config, nodeName: string): SourcesConfig {
  return {
    nodeName,
    staticPodPath: kubelet.staticPodPath,
    fileCheckFrequencyMs: kubelet.fileCheckFrequency,
    staticPodUrl: kubelet.staticPodURL,
    staticPodUrlHeader: kubelet.staticPodURLHeader,
    httpCheckFrequencyMs: kubelet.httpCheckFrequency,
    stateDirectory: join(settings.directories.root, 'last-good-manifests'),
    preventApiReferences: features.enabled('PreventStaticPodAPIReferences'),
    gates: podGatesOf({ features }),
  };
}

/** What the feature gates let a pod say. */
export function podGatesOf({ features }: Pick<Config, 'features'>): PodGates {
  return {
    restartRules: features.enabled('ContainerRestartRules'),
    restartAllContainers: features.enabled('RestartAllContainersOnContainerExits'),
    tolerationComparisons: features.enabled('TaintTolerationComparisonOperators'),
    userNamespacesOnHostNetwork: features.enabled('UserNamespacesHostNetworkSupport'),
    podLevelResources: features.enabled('PodLevelResources'),
    seLinuxMount: features.enabled('SELinuxMount'),
  };
}
