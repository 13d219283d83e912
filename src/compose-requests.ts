/** The requests to the runtime, from what this node and its configuration say. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RequestsPort } from './act/ports.ts';
import { qosClasses, resourceListOf } from './compose-resources.ts';
import { nodeAddresses, readRequestsConfig } from './compose-spec.ts';
import type { Config } from './config/config.ts';
import { cgroupVersion } from './host/machine.ts';
import { createNetwork } from './network/network.ts';
import type { Resources } from './resources/resources.ts';
import type { Handlers } from './runtime/handlers.ts';
import { createRequests } from './runtime/requests.ts';
import { createUserNamespaces } from './runtime/user-namespaces.ts';

const IDS_PER_POD = 65_536;

export function composeRequests(config: Config, handlers: Handlers, resources: Resources): RequestsPort {
  const { kubelet, features } = config;
  const nodeIps = () => nodeAddresses(config);
  const network = createNetwork(
    { readTextFile: (path) => readFile(path, 'utf8'), nodeIps },
    {
      clusterDns: kubelet.clusterDNS,
      clusterDomain: kubelet.clusterDomain,
      resolvConf: kubelet.resolvConf,
      hostnameOverride: features.enabled('HostnameOverride'),
    },
  );
  const requests = createRequests(
    {
      network,
      cgroupParent: resources.podCgroupParent,
      qosClass: qosClasses(config),
      nodeIps,
      nodeAllocatable: () => resourceListOf(resources.allocatable()),
      handlerFeatures: handlers.features,
      objects: NO_OBJECTS,
      idRange: createUserNamespaces({
        podsFolder: join(config.settings.directories.root, 'pods'),
        idsPerPod: kubelet.userNamespaces?.idsPerPod ?? IDS_PER_POD,
        chance: Math.random,
      }).rangeOf,
    },
    readRequestsConfig(config, cgroupVersion()),
  );
  return { ...requests, hostsFile: network.hostsFileOf };
}

/** A kubelet without an API server: nothing of it is there, and each thing says so by its name. */
const NO_OBJECTS = {
  services: () => [],
  configMap: (_: string, name: string) => ({ kind: 'missing' as const, message: `configmap "${name}" not found` }),
  secret: (_: string, name: string) => ({ kind: 'missing' as const, message: `secret "${name}" not found` }),
  runtimeHandler: (name: string) => ({ ok: false as const, problem: `RuntimeClass "${name}" not found` }),
};
