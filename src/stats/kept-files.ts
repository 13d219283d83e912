/**
 * Files of cgroups that stay open from one reading to the next: to open one costs three times as much as to read it. The kernel keeps a
 * page for each, so there is a bound, and those of cgroups that are gone are closed.
 */

/** An open file below /sys/fs/cgroup. */
export interface KernelFile {
  /** From its beginning. Undefined: its cgroup is gone, or it can't be read. */
  read(): string | undefined;
  close(): void;
}

export interface KeptFilesDeps {
  /** Undefined: there is no such file. */
  readonly open: (path: string) => KernelFile | undefined;
  /** Opens it, reads it and closes it. */
  readonly read: (path: string) => string | undefined;
}

/** Ten for each cgroup of some hundred pods; about 16 MB of the kernel's memory. */
const MOST_KEPT = 4096;

export function createKeptFiles({ open, read }: KeptFilesDeps, most = MOST_KEPT) {
  const byCgroup = new Map<string, Map<string, KernelFile>>();
  let count = 0;

  const forget = (cgroup: string): void => {
    for (const file of byCgroup.get(cgroup)?.values() ?? []) {
      file.close();
      count -= 1;
    }
    byCgroup.delete(cgroup);
  };

  return {
    /** A file of that cgroup by its name, where it is open; undefined: it is not, or not any more. */
    again: (cgroup: string, name: string): string | undefined => {
      const kept = byCgroup.get(cgroup)?.get(name);
      const text = kept?.read();
      // Its cgroup was removed, and perhaps made again.
      if (kept !== undefined && text === undefined) forget(cgroup);
      return text;
    },
    /** Opens it, and keeps it open within the bound. */
    first: (cgroup: string, name: string, path: string): string | undefined => {
      if (count >= most) return read(path);
      const file = open(path);
      const text = file?.read();
      if (file === undefined || text === undefined) {
        file?.close();
        return undefined;
      }
      const files = byCgroup.get(cgroup) ?? new Map<string, KernelFile>();
      byCgroup.set(cgroup, files.set(name, file));
      count += 1;
      return text;
    },
    /** Closes the files of all other cgroups. */
    retain: (isKnown: (cgroup: string) => boolean): void => {
      for (const cgroup of byCgroup.keys()) if (!isKnown(cgroup)) forget(cgroup);
    },
    forget,
  };
}
