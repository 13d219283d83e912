/** Makes, limits and removes cgroups in the way of one driver: as directories, or as slices of systemd. */
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Cgroups } from '../host/cgroups.ts';
import { type CgroupKernel, cgroupValues } from './rules/cgroup-files.ts';
import type { CgroupLimits } from './rules/cgroup-limits.ts';
import { type CgroupDriver, type CgroupName, cgroupPath, sliceOf } from './rules/cgroup-name.ts';
import { roundForSystemd, sliceProperties, type UnitProperty, unitProperties } from './rules/unit-properties.ts';

export interface CgroupWriter {
  exists(name: CgroupName): boolean;
  /** Makes it and what is missing above it. Nothing but its limits is changed where it is there. */
  create(name: CgroupName, limits: CgroupLimits, signal: AbortSignal): Promise<void>;
  update(name: CgroupName, limits: CgroupLimits, signal: AbortSignal): Promise<void>;
  /** Ends what runs in it and removes it; false while something in it does not end. Nothing happens where there is none. */
  remove(name: CgroupName, signal: AbortSignal): Promise<boolean>;
  /** Bytes; undefined where the kernel doesn't say. */
  memoryUsage(name: CgroupName): Promise<bigint | undefined>;
}

export interface SystemdPort {
  startTransientUnit(name: string, properties: readonly UnitProperty[], signal: AbortSignal): Promise<void>;
  setUnitProperties(name: string, properties: readonly UnitProperty[], signal: AbortSignal): Promise<void>;
  stopUnit(name: string, signal: AbortSignal): Promise<void>;
  version(signal: AbortSignal): Promise<number>;
}

export interface CgroupWriterDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly cgroups: Cgroups;
  readonly systemd: SystemdPort;
  /** Bytes. */
  readonly hugePageSizes: () => readonly bigint[];
  /** Called with the time that each operation took. */
  readonly onOperation: (operation: 'create' | 'update' | 'destroy', ms: number) => void;
}

export function createCgroupWriter(deps: CgroupWriterDeps, driver: CgroupDriver): CgroupWriter {
  return measured(deps, driver === 'systemd' ? createSliceWriter(deps) : createDirectoryWriter(deps));
}

function measured({ clock, onOperation }: CgroupWriterDeps, writer: CgroupWriter): CgroupWriter {
  return {
    ...writer,
    create: async (...request) => {
      const began = clock.mono();
      await writer.create(...request);
      onOperation('create', clock.mono() - began);
    },
    update: async (...request) => {
      const began = clock.mono();
      await writer.update(...request);
      onOperation('update', clock.mono() - began);
    },
    remove: async (...request) => {
      const began = clock.mono();
      const isGone = await writer.remove(...request);
      if (isGone) onOperation('destroy', clock.mono() - began);
      return isGone;
    },
  };
}

function createDirectoryWriter(deps: CgroupWriterDeps): CgroupWriter {
  const { cgroups, log } = deps;
  const pathOf = (name: CgroupName) => cgroupPath(name, 'cgroupfs');
  const files = createFileWriter(deps);
  const update = (name: CgroupName, { cpus, ...limits }: CgroupLimits) =>
    // On v1 a new cgroup has the processors of the one above, which may be fewer than the machine has.
    files.write(pathOf(name), cgroups.version === 1 || cpus === undefined ? limits : { ...limits, cpus });
  return {
    exists: (name) => cgroups.exists(pathOf(name)),
    create: async (name, limits) => {
      cgroups.create(pathOf(name));
      await update(name, limits);
    },
    update,
    remove: async (name) => {
      if (await cgroups.remove(pathOf(name))) return true;
      const killed = await cgroups.kill(pathOf(name));
      if (killed > 0)
        log.v(2)?.info('Killed processes left in a pod cgroup', { cgroup: pathOf(name), processes: killed });
      return await cgroups.remove(pathOf(name));
    },
    memoryUsage: (name) => cgroups.memoryUsage(pathOf(name)),
  };
}

function createSliceWriter(deps: CgroupWriterDeps): CgroupWriter {
  const { cgroups, systemd, log } = deps;
  const pathOf = (name: CgroupName) => cgroupPath(name, 'systemd');
  const files = createFileWriter(deps);
  let version: number | undefined;

  const update = async (name: CgroupName, limits: CgroupLimits, signal: AbortSignal): Promise<void> => {
    version ??= await systemd.version(signal);
    const properties = unitProperties(limits, { version: cgroups.version, systemdVersion: version });
    await systemd.setUnitProperties(sliceOf(name).unit, properties, signal);
    // systemd knows no huge pages, and applies the rest only after it has answered.
    await files.write(pathOf(name), roundForSystemd(limits));
  };
  return {
    exists: (name) => cgroups.exists(pathOf(name)),
    create: async (name, limits, signal) => {
      const { unit, parent } = sliceOf(name);
      await systemd.startTransientUnit(unit, sliceProperties(unit, parent, cgroups.version), signal);
      // systemd uses only the hierarchies that it needs for the unit's own properties.
      cgroups.create(pathOf(name));
      await update(name, limits, signal);
    },
    update,
    remove: async (name, signal) => {
      // First, because systemd would wait for minutes until each scope below has ended by itself.
      const killed = await cgroups.kill(pathOf(name));
      if (killed > 0)
        log.v(2)?.info('Killed processes left in a pod cgroup', { cgroup: pathOf(name), processes: killed });
      await systemd.stopUnit(sliceOf(name).unit, signal).catch((error) => {
        if (signal.aborted) throw error;
        log.warn('Failed to stop the slice of a pod', { unit: sliceOf(name).unit, err: describeError(error) });
      });
      return await cgroups.remove(pathOf(name));
    },
    memoryUsage: (name) => cgroups.memoryUsage(pathOf(name)),
  };
}

function createFileWriter({ cgroups, log, hugePageSizes }: CgroupWriterDeps) {
  const lacking = new Set<string>();
  let kernel: CgroupKernel | undefined;
  return {
    write: async (path: string, limits: CgroupLimits): Promise<void> => {
      kernel ??= {
        version: cgroups.version,
        controllers: await cgroups.controllers(),
        hugePageSizes: hugePageSizes(),
      };
      for (const file of cgroups.write(path, cgroupValues(limits, kernel))) {
        if (!lacking.has(file)) log.warn('The kernel has no such limit: pods run without it', { file });
        lacking.add(file);
      }
    },
  };
}
