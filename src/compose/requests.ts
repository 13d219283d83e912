/** The requests to the runtime, from what this node and its configuration say. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RequestsPort } from '../act/ports.ts';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../config/config.ts';
import { cgroupVersion } from '../host/machine.ts';
import { createNetwork } from '../network/network.ts';
import type { Resources } from '../resources/resources.ts';
import type { Handlers } from '../runtime/handlers.ts';
import { createRequests, type ObjectsPort } from '../runtime/requests.ts';
import { createUserNamespaces } from '../runtime/user-namespaces.ts';
import type { Volumes } from '../volumes/volumes.ts';
import { qosClasses, resourceListOf } from './resources.ts';
import { readRequestsConfig } from './spec.ts';

const IDS_PER_POD = 65_536;

export interface RequestTools {
  readonly clock: Clock;
  readonly handlers: Handlers;
  readonly resources: Resources;
  readonly objects: ObjectsPort;
  readonly nodeIps: () => readonly string[];
  readonly volumes: Pick<Volumes, 'subPaths' | 'readFile'>;
}

export function composeRequests(config: Config, tools: RequestTools): RequestsPort {
  const { kubelet, features } = config;
  const { handlers, resources, objects, nodeIps } = tools;
  const network = createNetwork(
    { mono: tools.clock.mono, readTextFile: (path) => readFile(path, 'utf8'), nodeIps },
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
      objects,
      idRange: createUserNamespaces({
        podsFolder: join(config.settings.directories.root, 'pods'),
        idsPerPod: kubelet.userNamespaces?.idsPerPod ?? IDS_PER_POD,
        chance: Math.random,
      }).rangeOf,
      prepareSubPaths: tools.volumes.subPaths.prepare,
      readVolumeFile: tools.volumes.readFile,
    },
    readRequestsConfig(config, cgroupVersion()),
  );
  return { ...requests, hostsFile: network.hostsFileOf };
}
