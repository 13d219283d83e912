/** What reading the files has to say, and where each value came from. */
import type { Place } from '../../base/yaml-tree.ts';

export interface FileProblem {
  /** `kubelet.yaml:12:3` */
  readonly origin: string;
  /** The field, such as `evictionHard.memory.available`; empty where it is about the file as a whole. */
  readonly path: string;
  readonly text: string;
}

/** `kubelet.yaml:12:3: maxPods: must be an integer`. */
export function formatFileProblem({ origin, path, text }: FileProblem): string {
  return path === '' ? `${origin}: ${text}` : `${origin}: ${path}: ${text}`;
}

/** Collects while one file is read. */
export class FileReport {
  readonly problems: FileProblem[] = [];
  readonly warnings: FileProblem[] = [];
  /** The place of every path that was written: `kubelet.yaml:12`. */
  readonly origins = new Map<string, string>();
  /** Paths that were taken away by `null`. */
  readonly removed = new Set<string>();
  readonly #file: string;
  readonly #strict: boolean;

  constructor(file: string, strict: boolean) {
    this.#file = file;
    this.#strict = strict;
  }

  /** The value can't be used. */
  refuse(place: Place, path: string, text: string): undefined {
    this.problems.push({ origin: this.#at(place), path, text });
  }

  /** Accepted although it is old. */
  warn(place: Place, path: string, text: string): void {
    this.warnings.push({ origin: this.#at(place), path, text });
  }

  /** What the reference reads past with a warning: a problem only for those who asked to be strict. */
  doubt(place: Place, path: string, text: string): void {
    if (this.#strict) this.refuse(place, path, text);
    else this.warn(place, path, text);
  }

  noteOrigin(place: Place, path: string): void {
    this.origins.set(path, `${this.#file}:${place.line}`);
  }

  noteRemoval(place: Place, path: string): void {
    this.noteOrigin(place, path);
    this.removed.add(path);
  }

  #at(place: Place): string {
    return `${this.#file}:${place.line}:${place.column}`;
  }
}
