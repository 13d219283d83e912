/**
 * This node at the API server: registers it, updates its status, renews its lease, and knows its object.
 *
 *   starting ──registered──► reporting ──deleted──► registering again ──► reporting …
 */

import { type KubeNode, nodeCondition } from '../api/node.ts';
import type { Quantities } from '../api/pod-resources.ts';
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import { createWakeBit } from '../base/wake.ts';
import type { Kube } from '../kube/kube.ts';
import type { EventText, RecordNodeEvent } from '../model/event.ts';
import type { Image } from '../wire/gen/cri-runtime-v1.ts';
import type { AddressBook } from './address-book.ts';
import { createImageList } from './image-list.ts';
import { keepLease } from './lease.ts';
import { createOwnNode } from './own-node.ts';
import { createReporting } from './reporting.ts';
import type { NodeSnapshot } from './rules/compute-node.ts';
import type { OtherCondition, Pressure } from './rules/conditions.ts';
import type { NodeIdentity } from './rules/initial-node.ts';
import type { MachineIdentity } from './rules/node-info.ts';
import type { RuntimeFacts } from './rules/runtime-state.ts';
import { createRuntimeWatch, type RuntimePort } from './runtime-watch.ts';
import { createWarnings } from './warnings.ts';

export interface NodeDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly kube: NodeKube;
  readonly runtime: NodeRuntime;
  readonly record: RecordNodeEvent;
  readonly addresses: AddressBook;
  readonly facts: NodeFacts;
  /** Called for each startup step of a new node, for metrics. */
  readonly onStep?: ((step: NodeStep) => void) | undefined;
}

export type NodeStep = 'registering' | 'registered' | 'ready';

export type NodeKube = Pick<
  Kube,
  'general' | 'heartbeats' | 'watch' | 'reconnect' | 'onBack' | 'serverDate' | 'awaitsCertificate'
>;

export interface NodeRuntime extends RuntimePort {
  setPodCidr(podCidr: string, signal: AbortSignal): Promise<void>;
  listImages(signal: AbortSignal): Promise<readonly Image[]>;
}

/** What the other parts of the kubelet know about this node. */
export interface NodeFacts {
  machine(): MachineIdentity;
  capacity(): Quantities;
  allocatable(): Quantities;
  pressure(): Pressure;
  /** Conditions that other parts of the kubelet report; none if absent. */
  conditions?(): readonly OtherCondition[];
  /** Why the node is not Ready, apart from its runtime. */
  problems(): NodeProblems;
  /** Undefined: not known yet. */
  volumesInUse(): readonly string[] | undefined;
}

export interface NodeProblems {
  /** Problems of parts of the kubelet, such as `PLEG is not healthy: …`. */
  readonly parts: readonly string[];
  readonly storage: string | undefined;
  readonly shutdown: string | undefined;
}

export interface NodeConfig {
  readonly identity: NodeIdentity;
  readonly registerNode: boolean;
  readonly getOnExistsOnly: boolean;
  readonly updateFrequency: number;
  readonly reportFrequency: number;
  readonly leaseDurationSeconds: number;
  readonly kubeletPort: number;
  readonly kubeletVersion: string;
  readonly mostImages: number;
  readonly declaredFeatures: readonly string[] | undefined;
  /** localStorageCapacityIsolation: a node without a known disk is not Ready. */
  readonly localStorage: boolean;
  readonly cgroupVersion: 1 | 2;
}

export interface Node extends Part {
  /** The object at the API server; undefined while it is unknown and if there is none. */
  object(): KubeNode | undefined;
  /** Whether the first list has arrived, even an empty one. */
  isListed(): boolean;
  /** Called with each change of the object. The name is for the log. Returns the function that unsubscribes. */
  subscribe(name: string, listener: (node: KubeNode | undefined) => void): () => void;
  /** Something that the status reports may have changed: updates it soon. */
  requestUpdate(): void;
}

const CGROUP_V1 =
  'cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. Please migrate to cgroup v2. ' +
  'More information at https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1';

export function createNode(deps: NodeDeps, config: NodeConfig): Node {
  const { clock, kube, random, supervisor } = deps;
  const log = deps.log.named('node');
  const { name } = config.identity;
  const bit = createWakeBit();
  const record = (event: EventText) => deps.record({ ...event, node: true });
  const ownNode = createOwnNode({ kube, clock, supervisor }, name);
  const warnings = createWarnings({ clock, log, record });
  const runtime = createRuntimeWatch({ clock, log, supervisor, runtime: deps.runtime, onChange: bit.wake });
  const images = createImageList({ clock, log, list: deps.runtime.listImages });
  const snapshot = async (signal: AbortSignal): Promise<NodeSnapshot> => {
    const listed = await images.current(signal);
    return takeSnapshot(deps, config, runtime.facts(), listed);
  };
  const { onStep } = deps;
  const shared = { clock, log, random, supervisor, kube, ownNode, record, warnings, snapshot, bit, onStep };
  const { setPodCidr } = deps.runtime;
  const reporting = createReporting({ ...shared, setPodCidr, machine: deps.facts.machine }, config);
  let running: Promise<unknown> = Promise.resolve();
  let unsubscribe: () => void = () => undefined;

  ownNode.subscribe('node startup', ({ now }) => {
    if (nodeCondition(now, 'Ready')?.status === 'True') onStep?.('ready');
  });

  let isPrepared = false;
  const report = async (signal: AbortSignal): Promise<void> => {
    if (!isPrepared) await Promise.all([runtime.check(signal), deps.addresses.settled(signal)]);
    isPrepared = true;
    await reporting.pass(signal);
  };

  return {
    name: 'node',
    start: async (signal) => {
      record({ type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' });
      if (config.cgroupVersion === 1) record({ type: 'Warning', reason: 'CgroupV1', message: CGROUP_V1 });
      unsubscribe = kube.onBack('node status', bit.wake);
      await ownNode.start(signal);
      const lease = { nodeName: name, durationSeconds: config.leaseDurationSeconds };
      running = Promise.all([
        supervisor.run({ name: 'node status', pass: report, rest: reporting.rest }, signal),
        runtime.run(signal),
        keepLease(shared, lease, signal),
      ]);
    },
    stop: async () => {
      unsubscribe();
      await ownNode.stop?.();
      await running;
    },
    object: ownNode.object,
    isListed: ownNode.isListed,
    subscribe: (listenerName, listener) => ownNode.subscribe(listenerName, ({ now }) => listener(now)),
    requestUpdate: bit.wake,
  };
}

function takeSnapshot(
  { clock, facts, addresses }: NodeDeps,
  config: NodeConfig,
  { report, version, handlers, features }: RuntimeFacts,
  images: readonly Image[],
): NodeSnapshot {
  const problems = facts.problems();
  return {
    now: clock.now(),
    addresses: addresses.input(),
    machine: facts.machine(),
    capacity: facts.capacity(),
    allocatable: facts.allocatable(),
    kubeletVersion: config.kubeletVersion,
    kubeletPort: config.kubeletPort,
    runtime: version,
    handlers,
    features,
    images,
    mostImages: config.mostImages,
    pressure: facts.pressure(),
    otherConditions: facts.conditions?.() ?? [],
    readiness: {
      runtime: report,
      mono: clock.mono(),
      partProblems: problems.parts,
      storageProblem: problems.storage,
      shutdownProblem: problems.shutdown,
      localStorage: config.localStorage,
    },
    volumesInUse: facts.volumesInUse(),
    declaredFeatures: config.declaredFeatures,
  };
}
