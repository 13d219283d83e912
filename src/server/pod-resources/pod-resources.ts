/** The pod-resources API on `pod-resources/kubelet.sock`: which pod has which devices, CPUs and memory. Monitoring agents ask it. */
import { lstat, rm } from 'node:fs/promises';
import type { Container } from '../../api/container.ts';
import { type PodUid, podUid } from '../../api/ids.ts';
import type { Pod } from '../../api/pod.ts';
import { isSidecar } from '../../api/pod-traits.ts';
import { isMissing } from '../../base/errno.ts';
import { CodedError } from '../../base/errors.ts';
import type { Part } from '../../base/lifecycle.ts';
import type { Logger } from '../../base/logger.ts';
import { createTokenBucket } from '../../base/token-bucket.ts';
import type { AssignedDevices } from '../../model/device.ts';
import type { PodView } from '../../model/pod-view.ts';
import {
  type AllocatableResourcesResponse,
  type ContainerMemory,
  type ContainerResources,
  PodResourcesLister,
} from '../../wire/gen/pod-resources-v1.ts';
import { PodResourcesLister as AlphaLister } from '../../wire/gen/pod-resources-v1alpha1.ts';
import { createGrpcServer, type Handler, unaryHandler } from '../../wire/grpc-server.ts';
import type { Init } from '../../wire/message.ts';
import { containerDevices } from '../rules/pod-resources.ts';

export interface PodResourcesDeps {
  readonly log: Logger;
  readonly mono: () => number;
  readonly views: () => readonly Pick<PodView, 'pod' | 'step'>[];
  readonly devices: {
    devicesOf(uid: PodUid, container: string): readonly AssignedDevices[];
    allocatableDevices(): readonly AssignedDevices[];
  };
  readonly cpus: {
    /** Those that belong to this container alone. */
    cpusOf(uid: PodUid, container: string): readonly number[];
    allocatableCpus(): readonly number[];
  };
  readonly memory: {
    memoryOf(uid: PodUid, container: string): readonly Init<ContainerMemory>[];
    allocatableMemory(): readonly Init<ContainerMemory>[];
  };
  readonly onRequest: (version: 'v1' | 'v1alpha1', method: PodResourcesMethod) => void;
  readonly onFailure: (method: PodResourcesMethod) => void;
}

export type PodResourcesMethod = 'list' | 'get_allocatable' | 'get';

export interface PodResourcesConfig {
  readonly socket: string;
  /** The gate KubeletPodResourcesListUseActivePods: without pods that have ended. */
  readonly activeOnly: boolean;
}

/** For all callers together. */
const LIMIT = { perSecond: 100, burst: 10 };

export function createPodResources(deps: PodResourcesDeps, config: PodResourcesConfig): Part {
  const { log } = deps;
  const server = createGrpcServer(limited(handlers(deps, config), deps.mono));
  let isListening = false;
  return {
    name: 'pod resources',
    start: async () => {
      try {
        await removeOld(config.socket);
        await server.listen(config.socket);
        isListening = true;
        log.info('Starting to serve the podresources API', { endpoint: `unix:${config.socket}` });
      } catch (error) {
        // Pods run without it; other kubelets end here.
        log.error('Failed to create listener for podResources endpoint', { err: error });
      }
    },
    stop: async () => {
      if (isListening) await server.close();
    },
  };
}

/** Of a kubelet that was killed. */
async function removeOld(socket: string): Promise<void> {
  const found = await lstat(socket).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (found?.isSocket()) await rm(socket, { force: true });
}

function limited(all: readonly Handler[], mono: () => number): readonly Handler[] {
  const bucket = createTokenBucket(LIMIT, mono());
  return all.map((handler) => ({
    ...handler,
    handle: async (request, send, call) => {
      if (!bucket.take(mono())) throw new CodedError('exhausted', 'rejected by rate limit');
      await handler.handle(request, send, call);
    },
  }));
}

function handlers(deps: PodResourcesDeps, { activeOnly }: PodResourcesConfig): readonly Handler[] {
  const { devices, cpus, memory, onRequest, onFailure } = deps;
  const podsOf = (isActiveOnly: boolean): readonly Pod[] =>
    deps
      .views()
      .filter(({ step }) => !isActiveOnly || step !== 'terminated')
      .map(({ pod }) => pod);
  const resourcesOf = (pod: Pod, { name }: Container): Init<ContainerResources> => {
    const uid = podUid(pod.metadata.uid);
    return {
      name,
      devices: containerDevices(devices.devicesOf(uid, name)),
      cpuIds: cpus.cpusOf(uid, name),
      memory: memory.memoryOf(uid, name),
    };
  };
  const describe = (pod: Pod) => {
    const sidecars = (pod.spec.initContainers ?? []).filter((container) => isSidecar(pod, container));
    const containers = [...sidecars, ...pod.spec.containers].map((container) => resourcesOf(pod, container));
    return { name: pod.metadata.name, namespace: pod.metadata.namespace, containers };
  };
  return [
    unaryHandler(PodResourcesLister.list, () => {
      onRequest('v1', 'list');
      return { podResources: podsOf(activeOnly).map(describe) };
    }),
    unaryHandler(PodResourcesLister.getAllocatableResources, (): Init<AllocatableResourcesResponse> => {
      onRequest('v1', 'get_allocatable');
      const all = containerDevices(devices.allocatableDevices());
      return { devices: all, cpuIds: cpus.allocatableCpus(), memory: memory.allocatableMemory() };
    }),
    unaryHandler(PodResourcesLister.get, ({ podName, podNamespace }) => {
      onRequest('v1', 'get');
      const pod = podsOf(false).find(
        ({ metadata }) => metadata.name === podName && metadata.namespace === podNamespace,
      );
      if (pod !== undefined) return { podResources: describe(pod) };
      onFailure('get');
      // Without a code: gRPC's `Unknown`, which is what clients know from other kubelets.
      throw new Error(`pod ${podName} in namespace ${podNamespace} not found`);
    }),
    unaryHandler(AlphaLister.list, () => {
      onRequest('v1alpha1', 'list');
      const podResources = podsOf(false).map((pod) => {
        const containers = pod.spec.containers.map(({ name }) => ({
          name,
          devices: containerDevices(devices.devicesOf(podUid(pod.metadata.uid), name)).map(
            ({ resourceName, deviceIds }) => ({ resourceName, deviceIds }),
          ),
        }));
        return { name: pod.metadata.name, namespace: pod.metadata.namespace, containers };
      });
      return { podResources };
    }),
  ];
}
