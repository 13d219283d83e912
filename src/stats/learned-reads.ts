/** Reads files of cgroups, but for those that this kernel has in none of them: the first cgroups show which they are. */
import type { Clock } from '../base/clock.ts';
import { createAbsentFiles } from './rules/absent-files.ts';
import type { CgroupReader, ReadFile } from './rules/sample.ts';

/** Schedulers of disks and the like are seldom changed. */
const LEARN_AGAIN_MS = 300_000;
const LEARN_FROM = 16;

export interface LearnedReads {
  readonly file: ReadFile;
  /** To be called when all files of the cgroup were asked for. */
  readonly learn: () => void;
}

export function createLearnedReads({
  clock,
  reader,
}: {
  readonly clock: Pick<Clock, 'now'>;
  readonly reader: CgroupReader;
}) {
  const absent = createAbsentFiles();
  let since = clock.now();
  let cgroups = 0;

  const beginAgain = (): void => {
    absent.forget();
    since = clock.now();
    cgroups = 0;
  };

  /** `read` is of one cgroup. */
  return (read: ReadFile): LearnedReads => {
    if (clock.now() - since > LEARN_AGAIN_MS) beginAgain();
    const present: ReadFile = (controller, file) => (absent.isAbsent(file) ? undefined : read(controller, file));
    if (cgroups >= LEARN_FROM) return { file: present, learn: () => undefined };
    const [found, missing]: [string[], string[]] = [[], []];
    return {
      file: (controller, file) => {
        const text = present(controller, file);
        (text === undefined || isUnused(file, text) ? missing : found).push(file);
        return text;
      },
      learn: () => {
        // A cgroup that went while it was read has no files at all.
        if (reader.cpuUsage(read) === undefined) return;
        absent.learn(found, missing);
        cgroups += 1;
      },
    };
  };
}

/** The files of the BFQ scheduler are there on every kernel that has it, and name disks only where it is in use, at the root first of all. */
const isUnused = (file: string, text: string) => file.startsWith('blkio.bfq.') && !/^\d/.test(text);
