/** Computes the node object that the API server should have from a snapshot of everything that a node's status reports. */

import type { ResourceList } from '../../api/meta.ts';
import { isExtendedResource, type KubeNode, type NodeStatus } from '../../api/node.ts';
import type { Quantities } from '../../api/pod-resources.ts';
import { formatQuantity } from '../../api/quantity.ts';
import type { EventText } from '../../model/event.ts';
import type { Image, RuntimeFeatures, RuntimeHandler } from '../../wire/gen/cri-runtime-v1.ts';
import { type AddressInput, computeAddresses, PROVIDED_IP_ANNOTATION } from './addresses.ts';
import { computeConditions, type OtherCondition, type Pressure } from './conditions.ts';
import {
  computeHandlers,
  computeImages,
  computeNodeInfo,
  type MachineIdentity,
  type RuntimeVersion,
} from './node-info.ts';
import { computeReadinessProblem, type ReadinessInput } from './readiness.ts';

export interface NodeSnapshot {
  readonly now: number;
  readonly addresses: AddressInput;
  readonly machine: MachineIdentity;
  readonly capacity: Quantities;
  readonly allocatable: Quantities;
  readonly kubeletVersion: string;
  readonly kubeletPort: number;
  readonly runtime: RuntimeVersion;
  readonly handlers: readonly RuntimeHandler[];
  /** Undefined: the runtime reports no features, or has not answered yet. */
  readonly features: RuntimeFeatures | undefined;
  readonly images: readonly Image[];
  readonly mostImages: number;
  readonly pressure: Pressure;
  readonly otherConditions: readonly OtherCondition[];
  readonly readiness: Omit<ReadinessInput, 'capacity'>;
  /** Undefined: not known yet, the value at the API server stays. */
  readonly volumesInUse: readonly string[] | undefined;
  readonly declaredFeatures: readonly string[] | undefined;
}

export interface ComputedNode {
  readonly node: KubeNode;
  readonly events: readonly EventText[];
  /** Parts of the status that failed; the rest is valid. */
  readonly problems: readonly string[];
}

export function computeNode(known: KubeNode, snapshot: NodeSnapshot): ComputedNode {
  const { status: before = {} } = known;
  const name = known.metadata.name;
  const addresses = computeAddresses(snapshot.addresses, before.addresses);
  const capacity = computeCapacityList(before, snapshot);
  const { conditions, events } = computeConditions(before.conditions ?? [], {
    now: snapshot.now,
    pressure: snapshot.pressure,
    others: snapshot.otherConditions,
    readinessProblem: computeReadinessProblem({
      ...snapshot.readiness,
      capacity: new Set(Object.keys(capacity)),
    }),
  });
  const nodeInfo = computeNodeInfo(snapshot.machine, snapshot.runtime, snapshot.kubeletVersion);
  const reboot = rebootEvent(name, before.nodeInfo?.bootID, nodeInfo.bootID);
  const handlers = computeHandlers(snapshot.handlers);
  const images = computeImages(snapshot.images, snapshot.mostImages);
  const status: NodeStatus = {
    ...before,
    ...(addresses.ok ? { addresses: addresses.value.addresses } : {}),
    capacity,
    allocatable: computeAllocatableList(before, capacity, snapshot),
    conditions,
    daemonEndpoints: { kubeletEndpoint: { Port: snapshot.kubeletPort } },
    nodeInfo,
    images,
    runtimeHandlers: handlers,
    ...(snapshot.features === undefined
      ? {}
      : { features: { supplementalGroupsPolicy: snapshot.features.supplementalGroupsPolicy } }),
    ...(snapshot.volumesInUse === undefined ? {} : { volumesInUse: snapshot.volumesInUse }),
    ...(snapshot.declaredFeatures === undefined ? {} : { declaredFeatures: snapshot.declaredFeatures }),
  };
  return {
    node: withAnnotation(withSystemLabels({ ...known, status: withoutEmpty(status) }, snapshot), addresses),
    events: [...events.map((reason) => statusEvent(name, reason)), ...reboot],
    problems: addresses.ok ? [] : [addresses.problem],
  };
}

export function statusEvent(nodeName: string, reason: string): EventText {
  return { type: 'Normal', reason, message: `Node ${nodeName} status is now: ${reason}` };
}

function rebootEvent(name: string, before: string | undefined, now: string): readonly EventText[] {
  if (before === undefined || before === '' || before === now) return [];
  return [{ type: 'Warning', reason: 'Rebooted', message: `Node ${name} has been rebooted, boot id: ${now}` }];
}

/** `pid` is for the node's cgroup, not for the scheduler. */
const isReported = (name: string): boolean => name !== 'pid';

/** Resources that others have added stay. */
function computeCapacityList({ capacity = {} }: NodeStatus, snapshot: NodeSnapshot): ResourceList {
  const own = [...snapshot.capacity].filter(([name]) => isReported(name));
  return { ...capacity, ...Object.fromEntries(own.map(([name, quantity]) => [name, formatQuantity(quantity)])) };
}

function computeAllocatableList(before: NodeStatus, capacity: ResourceList, snapshot: NodeSnapshot): ResourceList {
  const kept = Object.entries(before.allocatable ?? {}).filter(
    ([name]) => !isExtendedResource(name) || Object.hasOwn(capacity, name),
  );
  const all = Object.entries(capacity).map(([name, text]) => {
    const own = snapshot.allocatable.get(name);
    return [name, own === undefined ? text : formatQuantity(own)];
  });
  return { ...Object.fromEntries(kept), ...Object.fromEntries(all) };
}

/** The API server drops empty lists: with one, the status would differ from the stored one for ever. */
function withoutEmpty(status: NodeStatus): NodeStatus {
  return Object.fromEntries(
    Object.entries(status).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  );
}

/** The node sets these two itself; the scheduler relies on them. */
function withSystemLabels(node: KubeNode, { machine }: NodeSnapshot): KubeNode {
  const labels = node.metadata.labels ?? {};
  const desired = { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': machine.architecture };
  if (Object.entries(desired).every(([key, value]) => labels[key] === value)) return node;
  return { ...node, metadata: { ...node.metadata, labels: { ...labels, ...desired } } };
}

function withAnnotation(node: KubeNode, addresses: ReturnType<typeof computeAddresses>): KubeNode {
  if (!addresses.ok) return node;
  const { providedIp } = addresses.value;
  const { [PROVIDED_IP_ANNOTATION]: before, ...others } = node.metadata.annotations ?? {};
  if (before === providedIp) return node;
  const annotations = providedIp === undefined ? others : { ...others, [PROVIDED_IP_ANNOTATION]: providedIp };
  return { ...node, metadata: { ...node.metadata, annotations } };
}
