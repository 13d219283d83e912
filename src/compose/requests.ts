/** The requests to the runtime, from what this node and its configuration say. */
import { join } from 'node:path';
import type { RequestsPort } from '../act/ports.ts';
import type { Container } from '../api/container.ts';
import type { Pod } from '../api/pod.ts';
import { resourceListOf } from '../api/pod-resources.ts';
import { qosClassOf } from '../api/qos-class.ts';
import type { Config } from '../config/config.ts';
import { createNetwork } from '../network/network.ts';
import type { Assigning } from '../resources/assigning.ts';
import type { Resources } from '../resources/resources.ts';
import type { Handlers } from '../runtime/handlers.ts';
import type { ObjectsPort } from '../runtime/ports.ts';
import { createRequests } from '../runtime/requests.ts';
import { idsPerPod, requestsConfig } from '../runtime/settings.ts';
import { createUserNamespaces } from '../runtime/user-namespaces.ts';
import type { Volumes } from '../volumes/volumes.ts';
import type { PartDeps } from './compose.ts';

export interface RequestTools {
  readonly handlers: Handlers;
  readonly resources: Resources;
  readonly objects: ObjectsPort;
  readonly nodeIps: () => readonly string[];
  readonly assigning: Pick<Assigning, 'prepare'>;
  readonly hasExclusiveCpus: (pod: Pod, container?: Container) => boolean;
  readonly volumes: Pick<Volumes, 'subPaths' | 'readFile'>;
}

export function composeRequests(config: Config, { clock, log, host }: PartDeps, tools: RequestTools): RequestsPort {
  const { kubelet, features, settings } = config;
  const { handlers, resources, objects, nodeIps, volumes, assigning, hasExclusiveCpus } = tools;
  const podLevel = features.enabled('PodLevelResources');
  const network = createNetwork(
    { mono: clock.mono, readTextFile: host.files.readText, nodeIps },
    {
      clusterDns: kubelet.clusterDNS,
      clusterDomain: kubelet.clusterDomain,
      resolvConf: kubelet.resolvConf,
      hostnameOverride: features.enabled('HostnameOverride'),
    },
  );
  const userNamespaces = createUserNamespaces(
    { clock, log: log.named('runtime/user-namespaces'), readText: host.files.readText, random: Math.random },
    {
      podsDirectory: join(settings.directories.root, 'pods'),
      idsPerPod: idsPerPod(config),
      maxPods: kubelet.maxPods,
    },
  );
  const requests = createRequests(
    {
      network,
      cgroupParent: resources.podCgroupParent,
      qosClass: (pod) => qosClassOf(pod, { podLevel }),
      nodeIps,
      nodeAllocatable: () => resourceListOf(resources.allocatable()),
      handlerFeatures: handlers.features,
      objects,
      idRange: userNamespaces.rangeOf,
      prepareSubPaths: volumes.subPaths.prepare,
      readVolumeFile: volumes.readFile,
      assigned: assigning.prepare,
      hasExclusiveCpus,
    },
    requestsConfig(config, host.machine.runtimeFacts()),
  );
  return { ...requests, hostsFile: network.hostsFileOf };
}
