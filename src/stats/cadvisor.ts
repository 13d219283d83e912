/** `/metrics/cadvisor`: every family for every cgroup. It is long: with a hundred pods, twenty thousand lines. */
import { setImmediate as afterOthers } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import { familyText, labelPair, sampleLine } from '../telemetry/exposition.ts';
import { type Complain, orUndefined } from './complaints.ts';
import type { CadvisorFamily, CadvisorValue, Seen } from './rules/cadvisor-family.ts';
import { cadvisorFamilies, OOM_EVENTS } from './rules/cadvisor-metrics.ts';
import {
  type FileSystemUse,
  type Mounted,
  NO_ACTIVITY,
  parseDiskActivity,
  planFileSystems,
} from './rules/file-systems.ts';
import { computeMachineMetrics, type MachineFacts } from './rules/machine-metrics.ts';
import { type CgroupReading, NO_READING, type Readings } from './rules/reading.ts';
import type { MetricFamily } from './rules/resource-metrics.ts';
import type { EndedContainer, StatsPod, Target } from './rules/targets.ts';
import type { FileSystem } from './storage.ts';

export interface CadvisorDeps {
  readonly clock: Clock;
  readonly read: (path: string) => string | undefined;
  readonly complain: Complain;
  readonly mounts: () => readonly Mounted[];
  readonly fileSystem: (path: string) => Promise<FileSystem | undefined>;
  /** Of a sandbox, empty where the runtime does not say; asked for once for each. */
  readonly sandboxImage: (id: string, signal: AbortSignal) => Promise<string>;
  readonly machine: () => MachineFacts;
  /** Where the volumes of pods are. */
  readonly podsDirectory: string;
  readonly hasPressure: () => boolean;
  /** In all containers that the pod has had under that name; the kernel counts for one container only. */
  readonly oomKills: (uid: string, container: string) => number;
  readonly ended: () => readonly EndedContainer[];
}

const SLICE_MS = 2;

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
      // One that the runtime could not tell is asked for again, but not one after the other while it is away.
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
        const use = { name, capacityBytes, usedBytes: capacityBytes - freeBytes, inodes, inodesFree };
        return [{ ...NO_ACTIVITY, ...activity.get(device), ...use }];
      }),
    );
    return found.flat().toSorted((a, b) => (a.name < b.name ? -1 : 1));
  };

  return {
    text: async (targets: readonly Target[], readings: Readings, signal: AbortSignal): Promise<string> => {
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
          return [{ labels: labelsOf(target, images), seen }];
        })
        .toSorted(byLabels);
      const machine = computeMachineMetrics(deps.machine(), readings.has('/'));
      families ??= cadvisorFamilies({ hasPressure: deps.hasPressure() });
      const all = [...families, ...machine].toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const pieces: string[] = [];
      let until = deps.clock.mono() + SLICE_MS;
      for (const family of all) {
        const shown = family.name === OOM_EVENTS ? [...rows, ...endedRows(deps)].toSorted(byLabels) : rows;
        pieces.push('values' in family ? textOf(family, shown) : metricText(family));
        if (deps.clock.mono() <= until) continue;
        await afterOthers();
        signal.throwIfAborted();
        until = deps.clock.mono() + SLICE_MS;
      }
      return pieces.join('');
    },
  };
}

export function metricText(family: MetricFamily): string {
  const lines = family.samples.map(({ labels, value, time }) =>
    sampleLine(family.name, labels.map(labelPair).join(','), value, time),
  );
  return familyText(family, lines);
}

/** Of a container the larger of two counts: kills that it had before a restart, and those that only the kernel knows of. */
function killsOf({ kind, pod, container }: Target, { memory }: CgroupReading, kills: CadvisorDeps['oomKills']): number {
  const counted = memory?.oomKills ?? 0;
  return kind === 'container' && pod !== undefined ? Math.max(counted, kills(pod.uid, container)) : counted;
}

function endedRows({ clock, ended }: CadvisorDeps): readonly Row[] {
  return ended().map(({ cgroup, oomKills, ...one }) => ({
    labels: labelsOf({ ...one, path: cgroup, kind: 'container' }, NO_IMAGES),
    seen: { reading: { ...NO_READING, time: clock.now() }, fileSystems: [], diskName: () => '', oomKills },
  }));
}

const NO_IMAGES: ReadonlyMap<string, string> = new Map();

interface Row {
  /** In the order of their names. */
  readonly labels: readonly (readonly [name: string, text: string])[];
  readonly seen: Seen;
}

type Labelled = Pick<Target, 'path' | 'kind' | 'id' | 'container' | 'image'> & {
  readonly pod: Pick<StatsPod, 'name' | 'namespace'> | undefined;
};

function labelsOf(
  { path, kind, pod, id, container, image }: Labelled,
  images: ReadonlyMap<string, string>,
): Row['labels'] {
  const pairs = [
    ['container', container],
    ['id', path],
    ['image', kind === 'sandbox' ? (images.get(id) ?? '') : image],
    ['name', id],
    ['namespace', pod?.namespace ?? ''],
    ['pod', pod?.name ?? ''],
  ] as const;
  return pairs.map((pair) => [pair[0], labelPair(pair)]);
}

const keyOf = ({ labels }: Row) => labels.map(([, text]) => text).join(',');
const byLabels = (a: Row, b: Row) => (keyOf(a) < keyOf(b) ? -1 : 1);

function textOf(family: CadvisorFamily, rows: readonly Row[]): string {
  const lines: string[] = [];
  for (const { labels, seen } of rows) {
    const time = family.isTimeless ? undefined : seen.reading.time;
    for (const value of family.values(seen)) {
      lines.push(sampleLine(family.name, allLabels(labels, family, value), value.value, time));
    }
  }
  return familyText(family, lines);
}

function allLabels(labels: Row['labels'], { extra = [] }: CadvisorFamily, value: CadvisorValue): string {
  if (extra.length === 0) return labels.map(([, text]) => text).join(',');
  const added = extra.map((name, at) => [name, labelPair([name, value.extra?.[at] ?? ''])] as const);
  return [...labels, ...added]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, text]) => text)
    .join(',');
}

/** `DEVNAME=sda` among the lines that the kernel tells about a disk. */
function nameOfDisk(uevent: string | undefined): string {
  const name = /^DEVNAME=(.+)$/m.exec(uevent ?? '')?.[1];
  return name === undefined ? '' : `/dev/${name}`;
}
