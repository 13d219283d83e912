/** The network of the node: its chains of iptables, and what the runtime is told of the network of the pods. */
import type { Part } from '../base/lifecycle.ts';
import type { Config } from '../config/config.ts';
import { createIptables } from '../network/iptables.ts';
import { createPodNetwork, type PodNetwork } from '../network/pod-network.ts';
import { iptablesConfig, podNetworkConfig } from '../network/settings.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import type { PartDeps } from './compose.ts';

export interface NetworkParts {
  readonly parts: readonly Part[];
  readonly pods: Pick<PodNetwork, 'setPodCidr'>;
}

export function composeNetwork(
  config: Config,
  { clock, log, supervisor, host, surroundings }: PartDeps,
  { cri, isStandalone }: { readonly cri: CriClient; readonly isStandalone: boolean },
): NetworkParts {
  const filter = host.network.packetFilter({ clock, searchPath: surroundings?.environment['PATH'] });
  const iptables = createIptables(
    { clock, log: log.named('network/iptables'), supervisor, filter },
    iptablesConfig(config),
  );
  const pods = createPodNetwork(
    { clock, log: log.named('network/pods'), supervisor, runtime: cri },
    podNetworkConfig(config, isStandalone),
  );
  return { parts: [iptables, pods], pods };
}
