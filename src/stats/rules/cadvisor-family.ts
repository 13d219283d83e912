/** How a family of `/metrics/cadvisor` is described. */
import type { FileSystemUse } from './file-systems.ts';
import type { CgroupReading } from './reading.ts';
import type { DiskCounters } from './sample.ts';

/** One cgroup with what metrics show of it. */
export interface Seen {
  readonly reading: CgroupReading;
  /** Of the node; empty for everything else. */
  readonly fileSystems: readonly FileSystemUse[];
  /** `/dev/sda` */
  readonly diskName: (disk: Pick<DiskCounters, 'major' | 'minor'>) => string;
  /** Processes killed because memory was short, over all restarts of a container. */
  readonly oomKills: number;
}

export interface CadvisorFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  /** Labels beside those that say which container it is. */
  readonly extra?: readonly string[];
  /** It has no time of its own: it does not change while the container lives. */
  readonly isTimeless?: boolean;
  /** Of most families there is one value, or none: no list is made of it. */
  readonly single?: (seen: Seen) => number | undefined;
  values(seen: Seen): readonly CadvisorValue[];
}

export interface CadvisorValue {
  /** In the order of the family's `extra`. */
  readonly extra?: readonly string[];
  readonly value: number;
}

type ValueOf = (seen: Seen) => number | undefined;

const single = (type: 'counter' | 'gauge', name: string, help: string, of: ValueOf): CadvisorFamily => ({
  name,
  help,
  type,
  single: of,
  values: (seen) => {
    const value = of(seen);
    return value === undefined ? [] : [{ value }];
  },
});

export const counter = (name: string, help: string, of: ValueOf) => single('counter', name, help, of);
export const gauge = (name: string, help: string, of: ValueOf) => single('gauge', name, help, of);
export const spec = (name: string, help: string, of: ValueOf) => ({ ...gauge(name, help, of), isTimeless: true });
