/** The settings of the network, from the kubelet's configuration. */
import type { Config } from '../config/config.ts';
import type { IptablesConfig } from './iptables.ts';
import type { PodNetworkConfig } from './pod-network.ts';

/** The reference gives the two bits no effect: here one that is configured brings back the chains that older kubelets made with it. */
export function iptablesConfig({ kubelet, origins }: Config): IptablesConfig {
  const isGiven = (field: string) => origins.of(field) !== 'default';
  return {
    enabled: kubelet.makeIPTablesUtilChains,
    bits: {
      masquerade: isGiven('iptablesMasqueradeBit') ? kubelet.iptablesMasqueradeBit : undefined,
      drop: isGiven('iptablesDropBit') ? kubelet.iptablesDropBit : undefined,
    },
  };
}

/** `isStandalone`: no API server knows this node, so none gives it a CIDR. */
export function podNetworkConfig({ kubelet, settings }: Config, isStandalone: boolean): PodNetworkConfig {
  const { plugin, cniConfDir, cniBinDir } = settings.network;
  return {
    plugin,
    confDir: cniConfDir,
    binDirs: cniBinDir.split(',').map((one) => one.trim()),
    hairpinMode: kubelet.hairpinMode,
    podCidr: isStandalone ? kubelet.podCIDR : '',
  };
}
