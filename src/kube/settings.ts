/** The settings of the access to the API server, from the kubelet's configuration. */
import type { Config } from '../config/config.ts';
import { KUBERNETES_VERSION } from '../config/version.ts';
import type { KubeConfig } from './kube.ts';

/** The limits that 0 stands for, as in the reference. */
const DEFAULT_QPS = 5;
const DEFAULT_BURST = 10;

/** `contentType` is accepted and has no effect: requests and answers are JSON. */
export function kubeConfig({ settings, kubelet }: Config, architecture: string): KubeConfig {
  return {
    kubeconfig: settings.api.kubeconfig,
    authPath: settings.api.authPath,
    limit: { perSecond: kubelet.kubeAPIQPS || DEFAULT_QPS, burst: kubelet.kubeAPIBurst || DEFAULT_BURST },
    heartbeatTimeoutMs: Math.min(kubelet.nodeStatusUpdateFrequency, kubelet.nodeLeaseDurationSeconds * 1000),
    userAgent: `kubelet/${KUBERNETES_VERSION} (linux/${architecture})`,
  };
}

/** Access for a node that has no certificate yet. */
export function bootstrapKubeConfig(config: Config, architecture: string): KubeConfig {
  return { ...kubeConfig(config, architecture), kubeconfig: config.settings.api.bootstrapKubeconfig, authPath: '' };
}
