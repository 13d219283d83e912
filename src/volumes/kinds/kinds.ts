/** Every kind of volume that this kubelet makes itself. */
import type { Pod } from '../../api/pod.ts';
import { type Quantities, resourceListOf } from '../../api/pod-resources.ts';
import { quantityValue } from '../../api/quantity.ts';
import type { Clock } from '../../base/clock.ts';
import type { FileCalls } from '../../host/file-calls.ts';
import type { FileJobs } from '../../host/file-jobs.ts';
import type { MountTable } from '../../host/mount-table.ts';
import type { RecordNodeEvent } from '../../model/event.ts';
import { createDirectories } from '../directories.ts';
import type { VolumeKind } from '../kind.ts';
import { type EmptyDirNode, emptyDirPlace } from '../rules/empty-dir.ts';
import { swappableEvent } from '../rules/swap.ts';
import { createEmptyDirKind } from './empty-dir.ts';
import { createHostPathKind } from './host-path.ts';
import { createImageKind } from './image.ts';
import { NO_OBJECTS } from './no-objects.ts';
import { createObjectKinds, type VolumeObjects } from './object-kinds.ts';

export interface KindsDeps {
  readonly clock: Clock;
  readonly calls: Pick<FileCalls, 'mount' | 'unmount'>;
  readonly jobs: FileJobs;
  readonly mountTable: MountTable;
  readonly isForeign: (path: string) => boolean;
  readonly swapAreas: () => readonly string[];
  readonly record: RecordNodeEvent;
  /** An integer that is not negative, another one each time. */
  readonly random: () => number;
  /** Undefined for a kubelet without an API server. */
  readonly objects: VolumeObjects | undefined;
  readonly allocatable: () => Quantities;
  /** Bytes; undefined: not limited. */
  readonly podMemoryLimit: (pod: Pod) => bigint | undefined;
}

export interface KindsConfig {
  /** The gate PodLevelResources. */
  readonly podLevel: boolean;
}

export function createKinds(deps: KindsDeps, { podLevel }: KindsConfig): readonly VolumeKind[] {
  const { clock, calls, jobs, mountTable, isForeign, random, allocatable } = deps;
  const onSwappable = () => {
    const event = swappableEvent(deps.swapAreas());
    if (event !== undefined) deps.record(event);
  };
  const directories = createDirectories({ calls, jobs, mountTable, onSwappable });
  /** What limits the size of volumes in memory. */
  const node = (pod: Pod): EmptyDirNode => {
    const memory = allocatable().get('memory');
    return {
      allocatableMemory: memory === undefined ? 0n : quantityValue(memory),
      podMemoryLimit: deps.podMemoryLimit(pod),
      podLevel,
    };
  };
  return [
    createEmptyDirKind({ directories, node }),
    createHostPathKind({ jobs, isForeign }),
    createImageKind(),
    ...createObjectKinds(
      {
        clock,
        random,
        directories,
        objects: deps.objects ?? NO_OBJECTS,
        nodeAllocatable: () => resourceListOf(allocatable()),
        memoryBytes: (pod) => memoryBytes(pod, node(pod)),
      },
      { podLevel },
    ),
  ];
}

function memoryBytes(pod: Pod, node: EmptyDirNode): number | undefined {
  const place = emptyDirPlace(pod, { medium: 'Memory' }, node);
  return place.ok && place.value.kind === 'memory' ? place.value.sizeBytes : undefined;
}
