/**
 * The files `image_manager/pulling/*` and `image_manager/pulled/*`: which pulls were begun and which pods may use what was pulled. They are
 * read once; after that the records in memory are used, and each change is on disk before it takes effect.
 */

import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { formatTimestamp, parseTimestamp } from '../api/timestamp.ts';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { TEMPORARY_SUFFIX, writeFileAtomically } from '../host/atomic-file.ts';
import type { Image } from '../wire/gen/cri-runtime-v1.ts';
import { isCalled, withoutTagAndDigest } from './rules/image-name.ts';
import {
  formatIntent,
  formatPulledRecord,
  mergeCredentials,
  type PullCredentials,
  type PulledRecord,
  parseIntent,
  parsePulledRecord,
} from './rules/pull-record.ts';

export interface PullRecords {
  /** Makes the directories and reads the records. */
  open(): Promise<void>;
  /** Before a pull begins: what is then found on the machine was not preloaded. Each call needs one of `pulled`, `failed`, `abandon`. */
  begin(image: string): Promise<void>;
  pulled(image: string, imageRef: string, used: PullCredentials): Promise<void>;
  failed(image: string): Promise<void>;
  /** It is unknown whether the runtime finished a cancelled pull: the intent stays until `settle`. */
  abandon(image: string): void;
  /** Adds to the record of an image of the machine. */
  learn(image: string, imageRef: string, used: PullCredentials): Promise<void>;
  /** `unreadable` where a file exists and can't be parsed. */
  recordOf(imageRef: string): PulledRecord | 'unreadable' | undefined;
  isIntended(image: string): boolean;
  /** Turns intents that no one works on into records if the runtime has the image, and drops them if not. */
  settle(images: readonly Image[]): Promise<void>;
  /** Forgets images that were removed before `before`. */
  prune(imageRefs: ReadonlySet<string>, before: number): Promise<void>;
}

interface Intent {
  /** Under way now; 0 for one of an earlier process, or that was cancelled. */
  readonly pulls: number;
  /** Wall clock, milliseconds. */
  readonly idleSince: number;
}

/** Time for the runtime to notice that a pull was cancelled, or to finish it all the same. */
const SETTLE_AFTER_MS = 60_000;
const PREFIX = 'sha256-';
/** The reference's temporary files end with `.tmp`. */
const isTemporary = (name: string): boolean => name.endsWith('.tmp') || name.endsWith(TEMPORARY_SUFFIX);

const fileName = (text: string): string => `${PREFIX}${createHash('sha256').update(text).digest('hex')}`;

export interface PullRecordsDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

export function createPullRecords(deps: PullRecordsDeps, rootDirectory: string): PullRecords {
  return new RecordFiles(deps, rootDirectory);
}

class RecordFiles implements PullRecords {
  readonly #deps: PullRecordsDeps;
  readonly #pulling: string;
  readonly #pulled: string;
  /** By file name. */
  readonly #records = new Map<string, PulledRecord | 'unreadable'>();
  readonly #intents = new Map<string, Intent>();
  readonly #inTurn = createQueue();

  constructor(deps: PullRecordsDeps, rootDirectory: string) {
    this.#deps = deps;
    this.#pulling = join(rootDirectory, 'image_manager', 'pulling');
    this.#pulled = join(rootDirectory, 'image_manager', 'pulled');
  }

  async open(): Promise<void> {
    const { log } = this.#deps;
    for (const directory of [this.#pulling, this.#pulled]) await mkdir(directory, { recursive: true, mode: 0o700 });
    for (const [name, text] of await readDirectory(this.#pulling)) {
      const intent = parseIntent(text);
      if (intent.ok && fileName(intent.value) === name) this.#intents.set(intent.value, { pulls: 0, idleSince: 0 });
      else log.error('Ignoring image pull intent that can not be parsed', { file: join(this.#pulling, name) });
    }
    for (const [name, text] of await readDirectory(this.#pulled)) {
      const record = parsePulledRecord(text);
      const fits = record.ok && fileName(record.value.imageRef) === name;
      this.#records.set(name, fits ? record.value : 'unreadable');
      if (!record.ok) log.error('Failed to parse image pull record', { file: name, problem: record.problem });
    }
  }

  begin(image: string): Promise<void> {
    return this.#inTurn(async () => {
      await writeRecord(join(this.#pulling, fileName(image)), formatIntent(image));
      this.#intents.set(image, { pulls: (this.#intents.get(image)?.pulls ?? 0) + 1, idleSince: 0 });
    });
  }

  pulled(image: string, imageRef: string, used: PullCredentials): Promise<void> {
    return this.#attempt('Failed to write an image pulled record', image, async () => {
      await this.#merge(image, imageRef, used);
      await this.#end(image);
    });
  }

  failed(image: string): Promise<void> {
    return this.#attempt('Failed to remove an image pull intent', image, () => this.#end(image));
  }

  abandon(image: string): void {
    const pulls = Math.max((this.#intents.get(image)?.pulls ?? 0) - 1, 0);
    this.#intents.set(image, { pulls, idleSince: this.#deps.clock.now() });
  }

  learn(image: string, imageRef: string, used: PullCredentials): Promise<void> {
    return this.#attempt('Failed to write an image pulled record', image, () => this.#merge(image, imageRef, used));
  }

  recordOf(imageRef: string): PulledRecord | 'unreadable' | undefined {
    return this.#records.get(fileName(imageRef));
  }

  isIntended(image: string): boolean {
    return this.#intents.has(image);
  }

  async settle(images: readonly Image[]): Promise<void> {
    const now = this.#deps.clock.now();
    const isIdle = ({ pulls, idleSince }: Intent) => pulls === 0 && now - idleSince >= SETTLE_AFTER_MS;
    for (const [image] of [...this.#intents].filter(([, intent]) => isIdle(intent))) {
      const found = images.find(({ repoTags, repoDigests }) => isCalled(image, [...repoTags, ...repoDigests]));
      await this.#attempt('Failed to settle an image pull intent', image, async () => {
        if (this.#intents.get(image)?.pulls !== 0) return;
        if (found !== undefined) await this.#merge(image, found.id, undefined);
        await this.#dropIntent(image);
      });
    }
  }

  async prune(imageRefs: ReadonlySet<string>, before: number): Promise<void> {
    // Records have whole seconds: one that was made within this second may be younger.
    const wholeSecond = Math.floor(before / 1000) * 1000;
    for (const [name, record] of this.#records) {
      if (record === 'unreadable' || imageRefs.has(record.imageRef)) continue;
      if ((parseTimestamp(record.updatedAt) ?? 0) >= wholeSecond) continue;
      await this.#attempt('Failed to remove an image pulled record', record.imageRef, async () => {
        await rm(join(this.#pulled, name), { force: true });
        this.#records.delete(name);
      });
    }
  }

  async #merge(image: string, imageRef: string, used: PullCredentials | undefined): Promise<void> {
    const name = withoutTagAndDigest(image);
    if (!name.ok) throw new Error(`${image}: ${name.problem}`);
    const file = fileName(imageRef);
    const found = this.#records.get(file);
    const known = found === 'unreadable' ? undefined : found;
    const now = formatTimestamp(this.#deps.clock.now());
    const base = known ?? { imageRef, updatedAt: now, credentials: new Map() };
    const merged = mergeCredentials(base, name.value, used, now);
    if (merged === known) return;
    await writeRecord(join(this.#pulled, file), formatPulledRecord(merged));
    this.#records.set(file, merged);
  }

  async #end(image: string): Promise<void> {
    const pulls = (this.#intents.get(image)?.pulls ?? 0) - 1;
    if (pulls > 0) this.#intents.set(image, { pulls, idleSince: 0 });
    else await this.#dropIntent(image);
  }

  async #dropIntent(image: string): Promise<void> {
    await rm(join(this.#pulling, fileName(image)), { force: true });
    this.#intents.delete(image);
  }

  /** Records decide about access only: a failure to write one is logged, and the registry is checked again next time. */
  async #attempt(what: string, image: string, work: () => Promise<void>): Promise<void> {
    try {
      await this.#inTurn(work);
    } catch (error) {
      this.#deps.log.error(what, { image, err: error });
    }
  }
}

async function readDirectory(directory: string): Promise<readonly (readonly [string, string])[]> {
  const names = (await readdir(directory)).filter((name) => name.startsWith(PREFIX) && !isTemporary(name));
  return Promise.all(names.map(async (name) => [name, await readFile(join(directory, name), 'utf8')] as const));
}

async function writeRecord(path: string, text: string): Promise<void> {
  try {
    await writeFileAtomically(path, text, { mode: 0o600, durable: false });
  } catch (error) {
    throw new Error(`failed to write ${path}: ${describeError(error)}`, { cause: error });
  }
}

/** One after the other, so that two changes of a record don't lose one. */
function createQueue(): (work: () => Promise<void>) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => undefined); // the caller gets the failure
    return mine;
  };
}
