import type { OldSettings } from './file/old-fields.ts';
import type { KubeletConfiguration } from './schema/kubelet-configuration.ts';
import { requiredKubeconfigPath, type Settings } from './settings.ts';

/** The settings of the old fields of a configuration file, if there are any. */
export function applyOldSettings(base: Settings, old: OldSettings): Settings {
  return {
    ...base,
    api: {
      ...base.api,
      masterServiceNamespace: old.masterServiceNamespace ?? base.api.masterServiceNamespace,
      authPath: old.authPath ?? base.api.authPath,
      requireKubeconfig: old.requireKubeConfig ?? base.api.requireKubeconfig,
    },
    directories: {
      root: old.rootDirectory ?? base.directories.root,
      certificates: old.certDirectory ?? base.directories.certificates,
    },
    node: {
      ...base.node,
      hostnameOverride: old.hostnameOverride ?? base.node.hostnameOverride,
      ips: old.nodeIP === undefined || old.nodeIP === '' ? base.node.ips : [old.nodeIP],
      labels: old.nodeLabels ?? base.node.labels,
    },
    lock: {
      file: old.lockFilePath ?? base.lock.file,
      exitOnContention: old.exitOnLockContention ?? base.lock.exitOnContention,
    },
    cloud: {
      provider: old.cloudProvider ?? base.cloud.provider,
      configFile: old.cloudConfigFile ?? base.cloud.configFile,
    },
    containers: {
      ...base.containers,
      runtimeCgroups: old.runtimeCgroups ?? base.containers.runtimeCgroups,
      deadMinimumAge: old.minimumGCAge ?? base.containers.deadMinimumAge,
      deadPerContainer: old.maxPerPodContainerCount ?? base.containers.deadPerContainer,
      deadTotal: old.maxContainerCount ?? base.containers.deadTotal,
    },
    network: {
      plugin: old.networkPluginName ?? base.network.plugin,
      // One directory contained both the plugins and their configuration then.
      cniConfDir: old.cniConfDir ?? old.networkPluginDir ?? base.network.cniConfDir,
      cniBinDir: old.cniBinDir ?? old.networkPluginDir ?? base.network.cniBinDir,
    },
    cadvisor: { ...base.cadvisor, port: old.cAdvisorPort ?? base.cadvisor.port },
  };
}

/** Values that depend on several settings, computed once here. */
export function settleSettings(settings: Settings, kubelet: KubeletConfiguration, version: string): Settings {
  const { api, containers, node } = settings;
  const needsDefaultPath = api.requireKubeconfig && api.kubeconfig === '';
  return {
    ...settings,
    api: { ...api, kubeconfig: needsDefaultPath ? requiredKubeconfigPath : api.kubeconfig },
    containers: { ...containers, seccompDefault: containers.seccompDefault || kubelet.seccompDefault },
    node: { ...node, reportedVersion: version.startsWith('v') ? version : node.reportedVersion },
  };
}
