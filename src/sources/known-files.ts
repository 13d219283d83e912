/** What was read of each file, and which of them have just gone. */
import type { Pod } from '../api/pod.ts';
import type { FoundFile } from './found-files.ts';

interface KnownFile {
  /** Where its links end. */
  readonly target: string;
  readonly fingerprint: string;
  readonly pods: readonly Pod[];
  /** Not there at the last look; since this monotonic time. */
  readonly missingSince: number | undefined;
  /** What was read has been deleted since. */
  readonly deleted: boolean;
}

/** Some editors take the old file away before they put the new one in its place. */
const VANISH_MS = 100;

export class KnownFiles {
  readonly #files = new Map<string, KnownFile>();

  has(path: string): boolean {
    return this.#files.has(path);
  }

  podsOf(path: string): readonly Pod[] | undefined {
    return this.#files.get(path)?.pods;
  }

  /** True where it is as it was when it was read. */
  isCurrent({ path, fingerprint }: FoundFile): boolean {
    return this.#files.get(path)?.fingerprint === fingerprint;
  }

  /** It was deleted and written again in the same place. Where a link leads elsewhere now, the end of the old place means nothing. */
  isRewritten({ path, target }: FoundFile): boolean {
    const known = this.#files.get(path);
    return known?.deleted === true && known.target === target;
  }

  set({ path, target, fingerprint }: FoundFile, pods: readonly Pod[]): void {
    this.#files.set(path, { target, fingerprint, pods, missingSince: undefined, deleted: false });
  }

  noteDeleted(targets: ReadonlySet<string>): void {
    for (const [path, file] of this.#files) {
      if (targets.has(file.target)) this.#files.set(path, { ...file, deleted: true });
    }
  }

  /** Drops the files that have been gone for a while. Answers when to look again for those that are gone since just now. */
  dropMissing(present: ReadonlySet<string>, now: number): number | undefined {
    let wait: number | undefined;
    for (const [path, file] of this.#files) {
      if (present.has(path)) {
        if (file.missingSince !== undefined) this.#files.set(path, { ...file, missingSince: undefined });
        continue;
      }
      const since = file.missingSince ?? now;
      const left = since + VANISH_MS - now;
      if (left <= 0) this.#files.delete(path);
      else {
        this.#files.set(path, { ...file, missingSince: since });
        wait = Math.min(wait ?? left, left);
      }
    }
    return wait;
  }

  /** In the order of their paths. */
  list(): readonly { readonly path: string; readonly pods: readonly Pod[] }[] {
    const files = [...this.#files].map(([path, { pods }]) => ({ path, pods }));
    return files.sort((left, right) => (left.path < right.path ? -1 : 1));
  }
}
