/** The certificate and key that the server shows, and the CA of its clients: read from files, and again when these change. */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createAlarm } from '../../base/alarm.ts';
import type { Clock } from '../../base/clock.ts';
import { CodedError, describeError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { Supervisor } from '../../base/supervise.ts';
import { createWakeBit } from '../../base/wake.ts';
import { writeFileAtomically } from '../../host/atomic-file.ts';
import type { Inotify } from '../../host/inotify.ts';
import { createFileNews } from './file-news.ts';
import { createSelfSigned } from './self-signed.ts';

export interface TlsFiles {
  readonly certificate: string;
  readonly key: string;
  /** Empty: client certificates are not asked for. */
  readonly clientCa: string;
}

export interface TlsMaterial {
  readonly certificate: string;
  readonly key: string;
  /** Undefined: none. */
  readonly clientCa: string | undefined;
}

/** Both files or an error that names the one that is wrong; half a pair never gets to the server. */
export async function readTlsMaterial(files: TlsFiles): Promise<TlsMaterial> {
  const material = await readTexts(files);
  checkMaterial(files, material);
  return material;
}

async function readTexts(files: TlsFiles): Promise<TlsMaterial> {
  const [certificate, key, clientCa] = await Promise.all([
    readFile(files.certificate, 'utf8'),
    readFile(files.key, 'utf8'),
    files.clientCa === '' ? undefined : readFile(files.clientCa, 'utf8'),
  ]);
  return { certificate, key, clientCa };
}

function checkMaterial(files: TlsFiles, { certificate, key, clientCa }: TlsMaterial): void {
  const parsed = parsing(files.certificate, () => new X509Certificate(certificate));
  const privateKey = parsing(files.key, () => createPrivateKey(key));
  if (!parsed.checkPrivateKey(privateKey))
    throw new CodedError(
      'invalid',
      `the key in ${files.key} does not belong to the certificate in ${files.certificate}`,
    );
  if (clientCa !== undefined) checkAuthorities(files.clientCa, clientCa);
}

function checkAuthorities(file: string, pem: string): void {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0) throw new CodedError('invalid', `${file} holds no certificate`);
  for (const one of found) parsing(file, () => new X509Certificate(one));
}

function parsing<T>(file: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new CodedError('invalid', `can't read ${file}: ${describeError(error)}`);
  }
}

/** The pair in the certificate directory, made where there is none, or where the one that was made here is past its time. */
export async function ensureSelfSigned(
  directory: string,
  host: string,
  now: number,
  log: Logger,
): Promise<Omit<TlsFiles, 'clientCa'>> {
  const files = { certificate: join(directory, 'kubelet.crt'), key: join(directory, 'kubelet.key') };
  if (await isUsable(files, now)) return files;
  const made = await createSelfSigned(host, now);
  await mkdir(directory, { recursive: true });
  // Durable: a kubelet that finds an empty key file after a power failure does not start.
  await writeFileAtomically(files.key, made.key, { mode: 0o600, durable: true });
  await writeFileAtomically(files.certificate, made.certificate, { mode: 0o644, durable: true });
  log.info('Using self-signed cert', { certFile: files.certificate, keyFile: files.key });
  return files;
}

async function isUsable(files: Omit<TlsFiles, 'clientCa'>, now: number): Promise<boolean> {
  try {
    const parsed = new X509Certificate((await readTlsMaterial({ ...files, clientCa: '' })).certificate);
    // Somebody else's certificate is never replaced: they see in their clients that it is past its time.
    return now < parsed.validToDate.getTime() || !/-ca@\d+$/.test(parsed.issuer);
  } catch (error) {
    if ((await isThere(files.certificate)) || (await isThere(files.key))) throw error;
    return false;
  }
}

const isThere = (file: string) =>
  stat(file).then(
    () => true,
    () => false,
  );

/** The net below the events of the file system: for directories that can't be watched, and links above them that are exchanged. */
const LOOK_EVERY_MS = 10_000;
/** A certificate and its key come one after the other. */
const SETTLE_MS = 100;
const LONGEST_SETTLE_MS = 2000;

export interface TlsWatchDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly inotify?: Pick<Inotify, 'watch'> | undefined;
  readonly everyMs?: number | undefined;
  onChange(material: TlsMaterial): void;
}

/** Until the signal aborts. A broken file is told once and the last good one stays. */
export async function watchTlsFiles(
  files: TlsFiles,
  first: TlsMaterial,
  deps: TlsWatchDeps,
  signal: AbortSignal,
): Promise<void> {
  const look = createLook(files, first, deps);
  const { clock, log, inotify, everyMs = LOOK_EVERY_MS } = deps;
  const bit = createWakeBit();
  const alarm = createAlarm(clock, bit.wake);
  let events = 0;
  let seen = 0;
  const onNews = () => {
    events += 1;
    bit.wake();
  };
  const news = inotify && createFileNews({ inotify, log, onNews });
  const paths = [files.certificate, files.key, files.clientCa].filter((path) => path !== '');
  // What changed before the watch was there is seen with the first look.
  const pass = async (): Promise<void> => {
    await news?.follow(paths);
    await look();
  };
  const rest = async (): Promise<void> => {
    if (events === seen) alarm.ringAt(clock.now() + everyMs);
    await bit.wait(signal);
    alarm.clear();
    const since = clock.mono();
    for (let last = seen; events !== last && clock.mono() - since < LONGEST_SETTLE_MS; ) {
      last = events;
      await clock.sleep(SETTLE_MS, signal);
    }
    seen = events;
  };
  await deps.supervisor.run({ name: 'server certificate files', pass, rest }, signal);
  alarm.clear();
  news?.close();
}

/** Reads what is there; tells of it if it is new and good. */
function createLook(files: TlsFiles, first: TlsMaterial, { log, onChange }: TlsWatchDeps): () => Promise<void> {
  let used = first;
  let told = '';
  return async () => {
    try {
      const found = await readTexts(files);
      if (!same(found, used)) checkMaterial(files, found);
      told = '';
      if (same(found, used)) return;
      used = found;
      onChange(found);
      const { certificate: certFile, clientCa: clientCAFile } = files;
      log.info('Reloaded the certificates of the server', { certFile, clientCAFile });
    } catch (error) {
      const text = describeError(error);
      if (text !== told)
        log.error('Failed to reload the certificates of the server: the last good ones stay', { err: error });
      told = text;
    }
  };
}

const same = (a: TlsMaterial, b: TlsMaterial) =>
  a.certificate === b.certificate && a.key === b.key && a.clientCa === b.clientCa;
