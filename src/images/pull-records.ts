/**
 * The files `image_manager/pulling/*` and `image_manager/pulled/*`: which pulls were begun and who may use what was pulled. They are
 * read once; after that, memory is the truth and each change is on disk before it counts.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatTimestamp, parseTimestamp } from '../api/timestamp.ts';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
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
  /** Makes the folders and reads what is there. */
  open(): Promise<void>;
  /** Before a pull begins: what is then found on the machine was not preloaded. Each call needs one of `pulled`, `failed`, `abandon`. */
  begin(image: string): Promise<void>;
  pulled(image: string, imageRef: string, used: PullCredentials): Promise<void>;
  failed(image: string): Promise<void>;
  /** Of a pull that was cancelled nobody knows whether the runtime finished it: the intent stays until `settle`. */
  abandon(image: string): void;
  /** More about an image that is there. */
  learn(image: string, imageRef: string, used: PullCredentials): Promise<void>;
  /** `unreadable` where a file is there that can't be understood. */
  recordOf(imageRef: string): PulledRecord | 'unreadable' | undefined;
  isIntended(image: string): boolean;
  /** Turns intents that nobody works on into records if the runtime has the image, and drops them if not. */
  settle(images: readonly Image[]): Promise<void>;
  /** Forgets images that were gone before `before`. */
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
const TEMPORARY = '.tmp';

const fileName = (text: string): string => `${PREFIX}${createHash('sha256').update(text).digest('hex')}`;

export function createPullRecords(
  { clock, log }: { readonly clock: Pick<Clock, 'now'>; readonly log: Logger },
  rootDirectory: string,
): PullRecords {
  const folders = {
    pulling: join(rootDirectory, 'image_manager', 'pulling'),
    pulled: join(rootDirectory, 'image_manager', 'pulled'),
  };
  const records = new Map<string, PulledRecord | 'unreadable'>();
  const intents = new Map<string, Intent>();
  const inTurn = createQueue();

  const store = async (imageRef: string, record: PulledRecord) => {
    await writeWhole(join(folders.pulled, fileName(imageRef)), formatPulledRecord(record));
    records.set(fileName(imageRef), record);
  };
  const merge = async (image: string, imageRef: string, used: PullCredentials | undefined) => {
    const name = withoutTagAndDigest(image);
    if (!name.ok) throw new Error(`${image}: ${name.problem}`);
    const found = records.get(fileName(imageRef));
    const now = formatTimestamp(clock.now());
    const known: PulledRecord | undefined = found === 'unreadable' ? undefined : found;
    const base = known ?? { imageRef, updatedAt: now, credentials: new Map() };
    const merged = mergeCredentials(base, name.value, used, now);
    if (merged !== known) await store(imageRef, merged);
  };
  const dropIntent = async (image: string) => {
    await rm(join(folders.pulling, fileName(image)), { force: true });
    intents.delete(image);
  };
  const end = async (image: string) => {
    const pulls = (intents.get(image)?.pulls ?? 0) - 1;
    if (pulls > 0) intents.set(image, { pulls, idleSince: 0 });
    else await dropIntent(image);
  };
  /** Records are a matter of access, not of running: what can't be written is told, and asked of the registry next time. */
  const attempt = async (what: string, image: string, work: () => Promise<void>) => {
    try {
      await inTurn(work);
    } catch (error) {
      log.error(what, { image, err: error });
    }
  };

  return {
    open: async () => {
      for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true, mode: 0o700 });
      for (const [name, text] of await readFolder(folders.pulling)) {
        const intent = parseIntent(text);
        if (intent.ok && fileName(intent.value) === name) intents.set(intent.value, { pulls: 0, idleSince: 0 });
        else log.error('Ignoring an image pull intent that is not understood', { file: join(folders.pulling, name) });
      }
      for (const [name, text] of await readFolder(folders.pulled)) {
        const record = parsePulledRecord(text);
        const fits = record.ok && fileName(record.value.imageRef) === name;
        records.set(name, fits ? record.value : 'unreadable');
        if (!record.ok) log.error('Image pull record is not understood', { file: name, problem: record.problem });
      }
    },
    begin: (image) =>
      inTurn(async () => {
        await writeWhole(join(folders.pulling, fileName(image)), formatIntent(image));
        intents.set(image, { pulls: (intents.get(image)?.pulls ?? 0) + 1, idleSince: 0 });
      }),
    pulled: (image, imageRef, used) =>
      attempt('Failed to write an image pulled record', image, async () => {
        await merge(image, imageRef, used);
        await end(image);
      }),
    failed: (image) => attempt('Failed to remove an image pull intent', image, () => end(image)),
    abandon: (image) => {
      intents.set(image, { pulls: Math.max((intents.get(image)?.pulls ?? 0) - 1, 0), idleSince: clock.now() });
    },
    learn: (image, imageRef, used) =>
      attempt('Failed to write an image pulled record', image, () => merge(image, imageRef, used)),
    recordOf: (imageRef) => records.get(fileName(imageRef)),
    isIntended: (image) => intents.has(image),
    settle: async (images) => {
      const isIdle = ({ pulls, idleSince }: Intent) => pulls === 0 && clock.now() - idleSince >= SETTLE_AFTER_MS;
      const idle = [...intents].filter(([, intent]) => isIdle(intent)).map(([image]) => image);
      for (const image of idle) {
        const found = images.find(({ repoTags, repoDigests }) => isCalled(image, [...repoTags, ...repoDigests]));
        await attempt('Failed to settle an image pull intent', image, async () => {
          if (intents.get(image)?.pulls !== 0) return;
          if (found !== undefined) await merge(image, found.id, undefined);
          await dropIntent(image);
        });
      }
    },
    prune: async (imageRefs, before) => {
      // Records have whole seconds: one that was made within this second may be younger.
      const wholeSecond = Math.floor(before / 1000) * 1000;
      for (const [name, record] of records) {
        if (record === 'unreadable' || imageRefs.has(record.imageRef)) continue;
        if ((parseTimestamp(record.updatedAt) ?? 0) >= wholeSecond) continue;
        await attempt('Failed to remove an image pulled record', record.imageRef, async () => {
          await rm(join(folders.pulled, name), { force: true });
          records.delete(name);
        });
      }
    },
  };
}

async function readFolder(folder: string): Promise<readonly (readonly [string, string])[]> {
  const names = (await readdir(folder)).filter((name) => name.startsWith(PREFIX) && !name.endsWith(TEMPORARY));
  return Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const));
}

async function writeWhole(path: string, text: string): Promise<void> {
  const temporary = `${path}${TEMPORARY}`;
  try {
    await writeFile(temporary, text, { mode: 0o600 });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined); // the first failure is the one to tell
    throw new Error(`${path} can't be written: ${describeError(error)}`, { cause: error });
  }
}

/** One after the other, so that two changes of a record don't lose one. */
function createQueue(): (work: () => Promise<void>) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => undefined); // whoever asked for it sees the failure
    return mine;
  };
}
