/** `/metrics/cadvisor`: every family for every cgroup. It is long: with a hundred pods, twenty thousand lines. */
import { setImmediate as afterOthers } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import type { Machine } from '../model/machine.ts';
import { byLabels, makeRow, metricText, type Row, writeFamily } from './cadvisor-text.ts';
import { type Complain, orUndefined } from './complaints.ts';
import type { CadvisorFamily, Seen } from './rules/cadvisor-family.ts';
import { cadvisorFamilies, OOM_EVENTS } from './rules/cadvisor-metrics.ts';
import {
  type FileSystemUse,
  type Mounted,
  NO_ACTIVITY,
  parseDiskActivity,
  planFileSystems,
} from './rules/file-systems.ts';
import { computeMachineMetrics } from './rules/machine-metrics.ts';
import { type CgroupReading, NO_READING, type Readings } from './rules/reading.ts';
import type { MetricFamily } from './rules/resource-metrics.ts';
import { isSelected, isShown, type Selection } from './rules/selection.ts';
import { computeSpec, specType } from './rules/spec.ts';
import type { EndedContainer, Target } from './rules/targets.ts';
import type { FileSystem } from './storage.ts';

export interface CadvisorDeps {
  readonly clock: Clock;
  readonly read: (path: string) => string | undefined;
  readonly complain: Complain;
  readonly mounts: () => readonly Mounted[];
  readonly fileSystem: (path: string) => Promise<FileSystem | undefined>;
  /** Of a sandbox, empty where the runtime does not say; asked for once for each. */
  readonly sandboxImage: (id: string, signal: AbortSignal) => Promise<string>;
  readonly machine: Machine;
  /** Where the volumes of pods are. */
  readonly podsDirectory: string;
  readonly hasPressure: () => boolean;
  /** In all containers that the pod has had under that name; the kernel counts for one container only. */
  readonly oomKills: (uid: string, container: string) => number;
  readonly ended: () => readonly EndedContainer[];
  readonly selection: Selection;
}

const SLICE_MS = 2;
/** About 64 KB of text. */
const PIECE_PARTS = 1000;

export function createCadvisor(deps: CadvisorDeps) {
  let families: readonly CadvisorFamily[] | undefined;
  const images = new Map<string, string>();

  const findImages = async (targets: readonly Target[], signal: AbortSignal): Promise<void> => {
    const sandboxes = targets.filter(({ kind }) => kind === 'sandbox');
    const present = new Set(sandboxes.map(({ id }) => id));
    for (const id of images.keys()) if (!present.has(id)) images.delete(id);
    for (const { id } of sandboxes) {
      if (images.has(id)) continue;
      const asking = { complain: deps.complain, what: 'sandbox image', signal };
      const image = await orUndefined(asking, () => deps.sandboxImage(id, signal));
      // An image that the runtime did not report is requested again at the next scrape; while the runtime is away, one failed request is enough.
      if (image === undefined) break;
      images.set(id, image);
    }
  };

  const fileSystems = async (signal: AbortSignal): Promise<readonly FileSystemUse[]> => {
    const activity = parseDiskActivity(deps.read('/proc/diskstats'));
    const shown = planFileSystems(deps.mounts(), deps.podsDirectory);
    const found = await Promise.all(
      shown.map(async ({ name, device, point }): Promise<readonly FileSystemUse[]> => {
        const whole = await orUndefined({ complain: deps.complain, what: point, signal }, () => deps.fileSystem(point));
        if (whole === undefined) return [];
        const { capacityBytes, freeBytes, inodes, inodesFree } = whole;
        const use = { name, device, capacityBytes, usedBytes: capacityBytes - freeBytes, inodes, inodesFree };
        return [{ ...NO_ACTIVITY, ...activity.get(device), ...use }];
      }),
    );
    return found.flat().toSorted((a, b) => (a.name < b.name ? -1 : 1));
  };

  return {
    spec: async (signal: AbortSignal): Promise<object> => {
      const types = new Map(deps.mounts().map(({ device, type }) => [device, type]));
      const found = (await fileSystems(signal)).map(({ name, device, capacityBytes, inodes }) => ({
        device: name,
        type: specType(types.get(device) ?? ''),
        capacityBytes,
        inodes,
      }));
      return computeSpec(deps.machine, found, deps.clock.now());
    },
    families: async function* (targets: readonly Target[], readings: Readings, signal: AbortSignal) {
      await findImages(targets, signal);
      const ofNode = await fileSystems(signal);
      const names = new Map<string, string>();
      const diskName: Seen['diskName'] = ({ major, minor }) => {
        const key = `${major}:${minor}`;
        const known = names.get(key) ?? nameOfDisk(deps.read(`/sys/dev/block/${key}/uevent`));
        names.set(key, known);
        return known;
      };
      const rows = targets
        .flatMap((target): readonly Row[] => {
          const reading = readings.get(target.path);
          if (reading === undefined) return [];
          const fileSystems = target.kind === 'node' ? ofNode : [];
          const seen = { reading, fileSystems, diskName, oomKills: killsOf(target, reading, deps.oomKills) };
          const image = target.kind === 'sandbox' ? (images.get(target.id) ?? '') : target.image;
          return [makeRow({ ...target, image }, seen)];
        })
        .toSorted(byLabels);
      families ??= cadvisorFamilies({ hasPressure: deps.hasPressure() });
      const { selection } = deps;
      const all = [...families, ...computeMachineMetrics(deps.machine, readings.has('/'))]
        .filter(({ name }) => isSelected(selection, name))
        .toSorted(byName);
      yield* inSlices(deps.clock, all, signal, (out, family) => {
        if ('values' in family) writeFamily(out, family, rowsOf(family, rows, deps));
        else out.push(metricText(family));
      });
    },
    /** What the runtime reports, and the machine. */
    withMachine: (ofRuntime: readonly MetricFamily[], signal: AbortSignal) => {
      const machine = computeMachineMetrics(deps.machine, true).filter(
        ({ name }) => name.startsWith('machine_') && isSelected(deps.selection, name),
      );
      return inSlices(deps.clock, [...ofRuntime, ...machine].toSorted(byName), signal, (out, one) => {
        out.push(metricText(one));
      });
    },
  };
}

const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1);

/** In pieces of some size, and with pauses for others: each piece is joined once, of parts of several families. */
async function* inSlices<T>(
  clock: Clock,
  all: readonly T[],
  signal: AbortSignal,
  write: (out: string[], one: T) => void,
) {
  let until = clock.mono() + SLICE_MS;
  let parts: string[] = [];
  for (const one of all) {
    write(parts, one);
    if (parts.length >= PIECE_PARTS) {
      yield parts.join('');
      parts = [];
    }
    if (clock.mono() <= until) continue;
    await afterOthers();
    signal.throwIfAborted();
    until = clock.mono() + SLICE_MS;
  }
  if (parts.length > 0) yield parts.join('');
}

/** Of a container the larger of two counts: kills that it had before a restart, and those that only the kernel knows of. */
function killsOf({ kind, pod, container }: Target, { memory }: CgroupReading, kills: CadvisorDeps['oomKills']): number {
  const counted = memory?.oomKills ?? 0;
  return kind === 'container' && pod !== undefined ? Math.max(counted, kills(pod.uid, container)) : counted;
}

function rowsOf({ name }: CadvisorFamily, rows: readonly Row[], deps: CadvisorDeps): readonly Row[] {
  const { selection } = deps;
  if (name === OOM_EVENTS)
    return [...rows, ...endedRows(deps)].filter((row) => isShown(selection, row, name)).toSorted(byLabels);
  return selection.profile === 'full' ? rows : rows.filter((row) => isShown(selection, row, name));
}

function endedRows({ clock, ended }: CadvisorDeps): readonly Row[] {
  const reading = { ...NO_READING, time: clock.now() };
  return ended().map(({ cgroup, oomKills, ...one }) =>
    makeRow({ ...one, path: cgroup, kind: 'container' }, { reading, fileSystems: [], diskName: () => '', oomKills }),
  );
}

/** `DEVNAME=sda` among the lines with which the kernel describes a disk. */
function nameOfDisk(uevent: string | undefined): string {
  const name = /^DEVNAME=(.+)$/m.exec(uevent ?? '')?.[1];
  return name === undefined ? '' : `/dev/${name}`;
}
