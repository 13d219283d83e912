/** What the sources of pods need to know of the configuration. */
import { join } from 'node:path';
import type { PodGates } from '../api/pod-gates.ts';
import type { Config } from '../config/config.ts';
import type { SourcesConfig } from './sources.ts';

export interface SourcesSurroundings {
  readonly nodeName: string;
  /** The node has an API of its own, whose config maps and secrets are for static pods too. */
  readonly isLocal: boolean;
}

export function sourcesConfig(
  { kubelet, settings, features }: Config,
  { nodeName, isLocal }: SourcesSurroundings,
): SourcesConfig {
  return {
    nodeName,
    staticPodPath: kubelet.staticPodPath,
    fileCheckFrequencyMs: kubelet.fileCheckFrequency,
    staticPodUrl: kubelet.staticPodURL,
    staticPodUrlHeader: kubelet.staticPodURLHeader,
    httpCheckFrequencyMs: kubelet.httpCheckFrequency,
    stateDirectory: join(settings.directories.root, 'last-good-manifests'),
    preventApiReferences: !isLocal && features.enabled('PreventStaticPodAPIReferences'),
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
