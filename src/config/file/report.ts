/** The messages about the files, and the position of each value. */
import type { Place } from '../../base/yaml-tree.ts';

export interface FileProblem {
  /** `kubelet.yaml:12:3` */
  readonly origin: string;
  /** The field, such as `evictionHard.memory.available`; empty if it is about the whole file. */
  readonly path: string;
  readonly text: string;
}

/** `kubelet.yaml:12:3: maxPods: must be an integer`. */
export function formatFileProblem({ origin, path, text }: FileProblem): string {
  return path === '' ? `${origin}: ${text}` : `${origin}: ${path}: ${text}`;
}

/** Collects the messages of one file. */
export class FileReport {
  readonly problems: FileProblem[] = [];
  readonly warnings: FileProblem[] = [];
  /** The position of every path in the file: `kubelet.yaml:12`. */
  readonly origins = new Map<string, string>();
  /** Paths that were removed by `null`. */
  readonly removed = new Set<string>();
  readonly #file: string;
  readonly #strict: boolean;

  constructor(file: string, strict: boolean) {
    this.#file = file;
    this.#strict = strict;
  }

  /** The value is invalid. */
  refuse(place: Place, path: string, text: string): undefined {
    this.problems.push({ origin: this.#at(place), path, text });
  }

  /** Accepted although it is old. */
  warn(place: Place, path: string, text: string): void {
    this.warnings.push({ origin: this.#at(place), path, text });
  }

  /** The reference ignores it with a warning: a problem only in strict mode. */
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
