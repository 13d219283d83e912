/** Reads one cgroup: its own files, and those of the processes in it. */
import type { Clock } from '../base/clock.ts';
import { createKeptFiles, type KernelFile } from './kept-files.ts';
import { createKeptValues, createProcessLimits } from './kept-values.ts';
import { createLearnedReads } from './learned-reads.ts';
import { parseInterfaces, parsePids } from './rules/kernel-text.ts';
import { type Depth, isOftenRead, onlyNeeded } from './rules/needed-files.ts';
import type { CgroupReading } from './rules/reading.ts';
import type { CgroupReader, CgroupSpec, ReadFile } from './rules/sample.ts';
import type { Target } from './rules/targets.ts';

/** Files below /proc and /sys; undefined: not there (any more). */
export interface KernelFilesPort {
  read(path: string): string | undefined;
  /** To be read again and again. */
  open(path: string): KernelFile | undefined;
  modifiedAt(path: string): number | undefined;
  /** In steps, since a process may have very many. */
  openFiles(pid: number): Generator<void, { readonly files: number; readonly sockets: number } | undefined>;
}

/** Where cgroups are. */
export interface CgroupPlaces {
  readonly reader: CgroupReader;
  /** The directory in which a cgroup has the files of a controller; undefined: no such controller here. */
  directory(path: string, controller: string): string | undefined;
  /** Every directory that a cgroup has. */
  directories(path: string): readonly string[];
}

/** What the node's own cgroup is held to: nothing but the machine. */
export interface MachineSize {
  readonly memory: number;
  readonly swap: number;
  /** Wall clock, milliseconds. */
  readonly bootedAt: number;
}

export interface CgroupFilesDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly files: KernelFilesPort;
  readonly places: CgroupPlaces;
  readonly machine: MachineSize;
}

const NOTHING_MORE = {
  io: undefined,
  processes: 0,
  files: 0,
  sockets: 0,
  openFilesLimit: undefined,
  interfaces: undefined,
} as const;

/** Limits change only where a pod is resized. */
const SPEC_KEPT_MS = 25_000;

/** Reads a file of a cgroup. `keepOpen`: it is read again soon. */
function createFileOf(
  places: Pick<CgroupPlaces, 'directory'>,
  kept: ReturnType<typeof createKeptFiles>,
  files: Pick<KernelFilesPort, 'read'>,
) {
  return (path: string, keepOpen = true): ReadFile =>
    (controller, file) => {
      const again = kept.again(path, file);
      if (again !== undefined) return again;
      const directory = places.directory(path, controller);
      if (directory === undefined) return undefined;
      const whole = `${directory}/${file}`;
      return keepOpen && isOftenRead(controller, file) ? kept.first(path, file, whole) : files.read(whole);
    };
}

export function createCgroupFiles({ clock, files, places, machine }: CgroupFilesDeps) {
  const { reader } = places;
  const learned = createLearnedReads({ clock, reader });
  const kept = createKeptFiles(files);
  const fileOf = createFileOf(places, kept, files);
  const specs = createKeptValues<CgroupSpec>(clock, SPEC_KEPT_MS);
  const specOf = ({ path, kind }: Target, file: ReadFile): CgroupSpec => {
    const spec = specs.get(path, () => reader.spec(file));
    return kind === 'node'
      ? { ...spec, memory: { limit: machine.memory, swapLimit: machine.swap, reservation: 0 } }
      : spec;
  };

  /** The kernel does not keep the creation time of a cgroup that no process looks at: the earliest time that was read counts. */
  const births = new Map<string, number>();
  const createdAt = ({ path, startedAt }: Target): number => {
    if (startedAt !== undefined) return startedAt;
    const times = places.directories(path).map((directory) => files.modifiedAt(directory));
    const known = [births.get(path), ...times].filter((time) => time !== undefined);
    const birth = Math.max(known.length === 0 ? 0 : Math.min(...known), machine.bootedAt);
    births.set(path, birth);
    return birth;
  };

  const limits = createProcessLimits(clock, files);
  const readMore = function* ({ path, kind }: Target, depth: Depth, file: ReadFile) {
    const pids = parsePids(file('cpu', 'cgroup.procs'));
    const isRuntimes = kind === 'sandbox' || kind === 'container';
    const first = kind === 'node' ? 1 : isRuntimes ? pids.find((pid) => pid > 0) : undefined;
    // The network of a pod is that of its sandbox: it is counted once.
    const hasNetwork = depth !== 'processes' && first !== undefined && kind !== 'container';
    const opened = { files: 0, sockets: 0 };
    for (const pid of depth === 'all' ? pids : []) {
      const found = yield* files.openFiles(pid);
      opened.files += found?.files ?? 0;
      opened.sockets += found?.sockets ?? 0;
      yield;
    }
    return {
      io: reader.io(file),
      processes: pids.length,
      ...opened,
      openFilesLimit: depth === 'all' && first !== undefined ? limits.openFiles(path, first) : undefined,
      interfaces: hasNetwork ? parseInterfaces(files.read(`/proc/${first}/net/dev`)) : undefined,
    };
  };

  return {
    /** Forgets all other cgroups, and closes what is open of them. */
    retain: (isKnown: (path: string) => boolean): void => {
      kept.retain(isKnown);
      specs.retain(isKnown);
      limits.retain(isKnown);
      for (const path of births.keys()) if (!isKnown(path)) births.delete(path);
    },
    /** Nanoseconds of CPU time, with one file. */
    usage: (path: string): number | undefined => reader.cpuUsage(fileOf(path)),
    /** In steps. Undefined: the cgroup is gone. `keepOpen`: its files are read again soon. */
    read: function* (
      target: Target,
      depth: Depth,
      keepOpen: boolean,
    ): Generator<void, Omit<CgroupReading, 'nanoCores'> | undefined> {
      const learner = learned(fileOf(target.path, keepOpen));
      const file = onlyNeeded(depth, learner.file);
      const spec = specOf(target, learner.file);
      const [cpu, memory] = [reader.cpu(file, spec), reader.memory(file, spec)];
      if (cpu === undefined && memory === undefined) {
        kept.forget(target.path);
        return undefined;
      }
      const reading = {
        time: clock.now(),
        cpu,
        memory,
        spec,
        createdAt: createdAt(target),
        ...(depth === 'basic' ? NOTHING_MORE : yield* readMore(target, depth, file)),
        // The root of the hierarchy counts nothing.
        tasks: depth === 'all' && target.kind !== 'node' ? reader.tasks(file) : undefined,
      };
      if (depth === 'all') learner.learn();
      return reading;
    },
  };
}
