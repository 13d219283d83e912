/**
 * The resources of the pods of this node, in two records on disk: what is allocated to each, and what is in force for what runs of it. The
 * next kubelet goes on with both.
 */

import { readFile } from 'node:fs/promises';
import type { Container, ResourceRequirements } from '../api/container.ts';
import { type PodUid, podUid } from '../api/ids.ts';
import type { ResourceList } from '../api/meta.ts';
import type { Pod } from '../api/pod.ts';
import { allContainers } from '../api/pod-traits.ts';
import { isMissing } from '../base/errno.ts';
import type { Logger } from '../base/logger.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';
import {
  type Allocation,
  type AllocationOptions,
  allocationOf,
  markChanging,
  resourcesOf,
  sameResources,
  settledPart,
  withAllocation,
  withLargerRequests,
} from '../model/allocation.ts';
import { decodeAllocations, encodeAllocations } from './rules/allocation-record.ts';

export interface Allocations {
  /** Reads what an earlier kubelet wrote. */
  load(): Promise<void>;
  /** The pod with the resources that are allocated to it. The same object for the same pod, and the pod itself where nothing differs. */
  withAllocated(pod: Pod): Pod;
  /** The pod that `withAllocated` was called with for this one, where its spec requests other resources. */
  requested(pod: Pod): Pod | undefined;
  /** The pod was admitted with these resources, unless it has some already. They are on disk after the next `save`. */
  grant(pod: Pod): void;
  /** The pod gets what its spec requests. On disk after the next `save`. */
  allocate(requested: Pod): void;
  /** The pod with what it takes of the node: more than is allocated to it while it shrinks. */
  reserved(pod: Pod): Pod;
  /** Without what is being changed: what is in force of that is not known. */
  inForce(uid: PodUid): Allocation | undefined;
  /** The limits of the pod and of these containers are being changed: what is in force is not known until `done`. */
  begin(pod: Pod, containers: readonly string[]): Promise<void>;
  done(pod: Pod, containers: readonly string[]): Promise<void>;
  /** The container is going to be created with its resources of this pod. */
  starting(pod: Pod, container: Container): Promise<void>;
  forget(uid: PodUid): void;
  uids(): readonly PodUid[];
  /** Writes what has changed. A failure is logged, and the next call retries. */
  save(): Promise<void>;
}

export interface AllocationsConfig extends AllocationOptions {
  /** The directory of both files. */
  readonly directory: string;
}

export function createAllocations(log: Logger, config: AllocationsConfig): Allocations {
  const allocated = createRecord(`${config.directory}/allocated_pods_state`, log);
  const inForce = createRecord(`${config.directory}/actuated_pods_state`, log);
  const results = new WeakMap<Pod, Pod>();
  const sources = new WeakMap<Pod, Pod>();

  const compute = (pod: Pod): Pod => {
    const allocation = allocated.get(podUid(pod.metadata.uid));
    const result = allocation === undefined ? pod : withAllocation(pod, allocation, config);
    if (result !== pod) sources.set(result, pod);
    return result;
  };
  const save = async (): Promise<void> => {
    await Promise.all([allocated.save(), inForce.save()]);
  };
  const recordOf = (uid: PodUid): Allocation => inForce.get(uid) ?? { containers: {}, pod: undefined };
  const change = async (pod: Pod, names: readonly string[], isDone: boolean): Promise<void> => {
    const uid = podUid(pod.metadata.uid);
    const last = recordOf(uid);
    const given = allContainers(pod).filter(({ name }) => names.includes(name));
    const changed = given.map((container) => {
      const next = effective(pod, container, config);
      return [container.name, isDone ? next : markChanging(resourcesOf(last, container.name), next)] as const;
    });
    const own = config.podLevel ? pod.spec.resources : undefined;
    const isSame = own === undefined || sameResources(own, last.pod);
    inForce.set(uid, {
      containers: { ...last.containers, ...Object.fromEntries(changed) },
      pod: isDone || isSame ? own : markChanging(last.pod, own),
    });
    await inForce.save();
  };

  return {
    load: async () => {
      await Promise.all([allocated.load(), inForce.load()]);
    },
    withAllocated: (pod) => {
      const known = results.get(pod);
      if (known !== undefined) return known;
      const result = compute(pod);
      results.set(pod, result);
      return result;
    },
    requested: (pod) => sources.get(pod),
    grant: (pod) => {
      const uid = podUid(pod.metadata.uid);
      if (allocated.get(uid) === undefined) allocated.set(uid, allocationOf(pod, config));
      if (inForce.get(uid) !== undefined) return;
      const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
      inForce.set(uid, {
        containers: Object.fromEntries(containers.map((one) => [one.name, effective(pod, one, config)])),
        pod: config.podLevel ? pod.spec.resources : undefined,
      });
    },
    allocate: (requested) => {
      results.delete(requested);
      allocated.set(podUid(requested.metadata.uid), allocationOf(requested, config));
    },
    reserved: (pod) => {
      const used = inForce.get(podUid(pod.metadata.uid));
      return used === undefined ? pod : withLargerRequests(pod, used);
    },
    inForce: (uid) => {
      const record = inForce.get(uid);
      return record && settledPart(record);
    },
    begin: (pod, names) => change(pod, names, false),
    done: (pod, names) => change(pod, names, true),
    starting: async (pod, container) => {
      const known = resourcesOf(recordOf(podUid(pod.metadata.uid)), container.name);
      const isEphemeral = (pod.spec.ephemeralContainers ?? []).some(({ name }) => name === container.name);
      if (isEphemeral || (known !== undefined && sameResources(known, effective(pod, container, config)))) return;
      await changeOne(inForce, pod, container, config);
    },
    forget: (uid) => {
      allocated.delete(uid);
      inForce.delete(uid);
    },
    uids: () => [...new Set([...allocated.uids(), ...inForce.uids()])],
    save,
  };
}

async function changeOne(inForce: AllocationRecord, pod: Pod, container: Container, options: AllocationOptions) {
  const uid = podUid(pod.metadata.uid);
  const before = inForce.get(uid) ?? { containers: {}, pod: undefined };
  const containers = { ...before.containers, [container.name]: effective(pod, container, options) };
  inForce.set(uid, { ...before, containers });
  await inForce.save();
}

/** With the limits of the pod for what the container has none of: that is what it is held to, and what the reference writes down. */
function effective(pod: Pod, { resources = {} }: Container, { podLevel }: AllocationOptions): ResourceRequirements {
  const own = podLevel ? pod.spec.resources?.limits : undefined;
  if (own === undefined) return resources;
  const limits: Record<string, string> = {};
  for (const name of ['cpu', 'memory']) {
    const limit = own[name];
    if (limit !== undefined) limits[name] = limit;
  }
  const merged: ResourceList = { ...limits, ...resources.limits };
  return Object.keys(merged).length === 0 ? resources : { ...resources, limits: merged };
}

interface AllocationRecord {
  load(): Promise<void>;
  get(uid: PodUid): Allocation | undefined;
  set(uid: PodUid, allocation: Allocation): void;
  delete(uid: PodUid): void;
  uids(): readonly PodUid[];
  save(): Promise<void>;
}

function createRecord(file: string, log: Logger): AllocationRecord {
  let known = new Map<PodUid, Allocation>();
  let changed = false;
  let writing: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  const write = async (): Promise<void> => {
    next = undefined;
    if (!changed) return;
    changed = false;
    try {
      // Not synced to the disk: a power failure ends the containers too, and their pods are admitted again.
      const options = { mode: 0o640, directoryMode: 0o750, durable: false };
      await writeFileAtomically(file, encodeAllocations(known), options);
    } catch (error) {
      changed = true;
      log.error('Failed to write the resources of pods', { err: error, path: file });
    }
  };

  return {
    load: async () => {
      const text = await readFile(file, 'utf8').catch((error: unknown) => {
        if (!isMissing(error)) log.error('Failed to read the resources of pods', { err: error, path: file });
        return undefined;
      });
      if (text === undefined) return;
      const record = decodeAllocations(text);
      if (record.ok) known = new Map([...record.value].map(([uid, allocation]) => [podUid(uid), allocation]));
      else log.error('The record of the resources of pods is unreadable', { path: file, problem: record.problem });
    },
    get: (uid) => known.get(uid),
    set: (uid, allocation) => {
      known.set(uid, allocation);
      changed = true;
    },
    delete: (uid) => {
      changed = known.delete(uid) || changed;
    },
    uids: () => [...known.keys()],
    save: () => {
      if (!changed && next === undefined) return writing;
      // One write at a time: an older text must not replace a newer one. Those who come meanwhile share the next.
      next ??= writing.then(write);
      writing = next;
      return next;
    },
  };
}
