/** What the sources of pods need to know of the configuration. */
import { join } from 'node:path';
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
    gates: {
      restartRules: features.enabled('ContainerRestartRules'),
      restartAllContainers: features.enabled('RestartAllContainersOnContainerExits'),
      tolerationComparisons: features.enabled('TaintTolerationComparisonOperators'),
      userNamespacesOnHostNetwork: features.enabled('UserNamespacesHostNetworkSupport'),
      podLevelResources: features.enabled('PodLevelResources'),
      seLinuxMount: features.enabled('SELinuxMount'),
    },
  };
}
