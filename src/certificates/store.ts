/**
 * The certificates of one kind in the certificate directory, in the reference's layout: a dated file for each, with certificate and
 * key, and a link `…-current.pem` to the one in use. Each kubelet can go on with what the other has left.
 */
import { lstat, readFile, rename, symlink, unlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { ifPathMissing } from '../base/errno.ts';
import { CodedError } from '../base/errors.ts';
import { localTime } from '../base/local-time.ts';
import type { Logger } from '../base/logger.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';
import { type CertificatePair, makePair, readPair } from './pair.ts';
import { currentName, datedName, type PairKind, updatedName } from './rules/file-names.ts';

export interface CertificateStore {
  /** The path that always leads to the certificate in use. */
  readonly currentPath: string;
  /** Undefined: there is none, or it can't be used. */
  current(): Promise<CertificatePair | undefined>;
  /** From now on the certificate in use. Rejects where it can't be written: the one before then stays. */
  update(pair: CertificatePair): Promise<void>;
}

export interface StoreDeps {
  readonly clock: Clock;
  readonly log: Logger;
}

export function createCertificateStore({ clock, log }: StoreDeps, directory: string, kind: PairKind): CertificateStore {
  const currentPath = resolve(directory, currentName(kind));
  const updatedPath = resolve(directory, updatedName(kind));
  return {
    currentPath,
    current: async () => {
      const newest = async () => {
        await recover(currentPath, updatedPath);
        return await readOne(currentPath);
      };
      for (const read of [newest, () => readTwo(directory, kind)]) {
        try {
          const pair = await read();
          if (pair !== undefined) return pair;
        } catch (err) {
          log.error('Failed to read a certificate', { directory, kind, err });
        }
      }
      return undefined;
    },
    update: async ({ certificate, key }) => {
      const { year, ...rest } = localTime(clock.now());
      const two = (part: number) => String(part).padStart(2, '0');
      const local = [year, ...[rest.month, rest.day, rest.hour, rest.minute, rest.second].map(two)].join('-');
      const path = resolve(directory, datedName(kind, local));
      await writeFileAtomically(path, certificate + key, { mode: 0o600, durable: true, directoryMode: 0o755 });
      await checkIsLink(currentPath);
      await removeIfThere(updatedPath);
      await symlink(path, updatedPath);
      await rename(updatedPath, currentPath);
    },
  };
}

/** Whoever was killed between taking the old link away and renaming the new one has left only the new one. */
async function recover(currentPath: string, updatedPath: string): Promise<void> {
  if ((await kindOf(currentPath)) === undefined && (await kindOf(updatedPath)) === 'link') {
    await rename(updatedPath, currentPath);
  }
}

async function checkIsLink(path: string): Promise<void> {
  if ((await kindOf(path)) === 'other')
    throw new CodedError('invalid', `expected ${path} to be a symlink but it is a file`);
}

async function kindOf(path: string): Promise<'link' | 'other' | undefined> {
  const found = await lstat(path).catch(ifPathMissing(undefined));
  if (found === undefined) return undefined;
  return found.isSymbolicLink() ? 'link' : 'other';
}

async function readOne(path: string): Promise<CertificatePair | undefined> {
  const pem = await readFile(path, 'latin1').catch(ifPathMissing(undefined));
  return pem === undefined ? undefined : readPair(pem);
}

/** Two files, as kubelets before 1.8 had them. */
async function readTwo(directory: string, kind: PairKind): Promise<CertificatePair | undefined> {
  const read = (ending: string) =>
    readFile(join(directory, `${kind}.${ending}`), 'latin1').catch(ifPathMissing(undefined));
  const [certificate, key] = await Promise.all([read('crt'), read('key')]);
  return certificate === undefined || key === undefined ? undefined : makePair(certificate, key);
}

async function removeIfThere(path: string): Promise<void> {
  await unlink(path).catch(ifPathMissing(undefined));
}
