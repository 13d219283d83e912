/** This machine as a node: its addresses, its object at the API server. */
import type { Config } from '../config/config.ts';
import type { Kube } from '../kube/kube.ts';
import type { RecordEvent } from '../model/event.ts';
import type { PodNetwork } from '../network/pod-network.ts';
import { type AddressBook, createAddressBook } from '../node/address-book.ts';
import { createNode, type Node, type NodeDeps, type NodeFacts } from '../node/node.ts';
import { createNodeProblems } from '../node/problems.ts';
import { addressBookConfig, nodeConfig } from '../node/settings.ts';
import type { Resources } from '../resources/resources.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import type { PartDeps } from './compose.ts';

export function composeAddresses(config: Config, { clock, supervisor, nodeName, host }: PartDeps): AddressBook {
  const network = {
    interfaces: host.network.interfaces(clock.mono),
    routes: host.network.defaultRoutes,
    resolve: (name: string, signal: AbortSignal) => host.network.resolve(name, { clock, signal }),
  };
  return createAddressBook({ clock, supervisor, network }, addressBookConfig(config, nodeName));
}

export interface NodeTools {
  readonly kube: Kube;
  readonly cri: CriClient;
  readonly podNetwork: Pick<PodNetwork, 'setPodCidr'>;
  readonly record: RecordEvent;
  readonly resources: Pick<Resources, 'capacity' | 'allocatable'>;
  readonly addresses: AddressBook;
  /** When the runtime's containers were last listed, monotonic. */
  readonly lastRelist: () => number | undefined;
  readonly onStep?: NodeDeps['onStep'];
  readonly volumesInUse: NodeFacts['volumesInUse'];
  readonly conditions: NonNullable<NodeFacts['conditions']>;
  readonly pressure: NodeFacts['pressure'];
  /** Why the node is closed; undefined: it is not. */
  readonly closedBecause: () => string | undefined;
}

export function composeNode(config: Config, deps: PartDeps, tools: NodeTools): Node {
  const { clock, log, supervisor, nodeName, host, machine } = deps;
  const { kube, cri, podNetwork, record, resources, addresses, lastRelist, onStep, volumesInUse } = tools;
  return createNode(
    {
      clock,
      log,
      supervisor,
      random: Math.random,
      kube,
      runtime: {
        status: cri.status,
        version: cri.version,
        setPodCidr: podNetwork.setPodCidr,
        listImages: cri.images.list,
      },
      record,
      addresses,
      onStep,
      facts: {
        machine: () => ({ ...machine, swap: machine.swapBytes }),
        capacity: resources.capacity,
        allocatable: resources.allocatable,
        pressure: tools.pressure,
        conditions: tools.conditions,
        problems: createNodeProblems({ mono: clock.mono, lastRelist, shutdown: tools.closedBecause }),
        volumesInUse,
      },
    },
    nodeConfig(config, { nodeName, architecture: machine.architecture, cgroupVersion: host.cgroups.version() }),
  );
}
