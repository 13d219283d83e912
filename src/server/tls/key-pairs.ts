/** The certificate and key of the server, and the CA of its clients: read from files, and again when these change. */

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
import { createFileWatch } from './file-watch.ts';
import { createSelfSigned } from './self-signed.ts';

export interface TlsFiles {
  /** Empty, with the key: there is no pair but the signed one. */
  readonly certificate: string;
  readonly key: string;
  /** Empty: client certificates are not requested. */
  readonly clientCa: string;
  /** One file with certificate and key that counts instead of the two as soon as it is there: the cluster has signed it. */
  readonly signed?: string | undefined;
}

export interface TlsMaterial {
  /** Empty, with the key: no handshake succeeds until there is one. */
  readonly certificate: string;
  readonly key: string;
  /** Undefined: none. */
  readonly clientCa: string | undefined;
}

/** Both files, or an error that names the wrong one; the server never gets half a pair. */
export async function readTlsMaterial(files: TlsFiles): Promise<TlsMaterial> {
  const material = await readTexts(files);
  checkMaterial(files, material);
  return material;
}

async function readTexts(files: TlsFiles): Promise<TlsMaterial> {
  const [[certificate, key], clientCa] = await Promise.all([
    readPairTexts(files),
    files.clientCa === '' ? undefined : readFile(files.clientCa, 'utf8'),
  ]);
  return { certificate, key, clientCa };
}

async function readPairTexts(files: TlsFiles): Promise<readonly [certificate: string, key: string]> {
  const { signed } = files;
  if (signed !== undefined && (await isThere(signed))) {
    const both = await readFile(signed, 'utf8');
    return [both, both];
  }
  if (files.certificate === '') return ['', ''];
  return await Promise.all([readFile(files.certificate, 'utf8'), readFile(files.key, 'utf8')]);
}

function checkMaterial(files: TlsFiles, { certificate, key, clientCa }: TlsMaterial): void {
  if (certificate !== '') checkPair(files, certificate, key);
  if (clientCa !== undefined) checkAuthorities(files.clientCa, clientCa);
}

function checkPair(files: TlsFiles, certificate: string, key: string): void {
  const isSigned = certificate === key;
  const [certFile, keyFile] = isSigned ? [files.signed, files.signed] : [files.certificate, files.key];
  const parsed = parsing(certFile ?? '', () => new X509Certificate(certificate));
  const privateKey = parsing(keyFile ?? '', () => createPrivateKey(key));
  if (parsed.checkPrivateKey(privateKey)) return;
  throw new CodedError('invalid', `the key in ${keyFile} does not belong to the certificate in ${certFile}`);
}

function checkAuthorities(file: string, pem: string): void {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0) throw new CodedError('invalid', `${file} contains no certificate`);
  for (const one of found) parsing(file, () => new X509Certificate(one));
}

function parsing<T>(file: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new CodedError('invalid', `failed to read ${file}: ${describeError(error)}`);
  }
}

/** The pair in the certificate directory; created if there is none, or if the self-signed one has expired, or will within `renewBeforeMs`. */
export async function ensureSelfSigned(
  directory: string,
  host: string,
  now: number,
  log: Logger,
  renewBeforeMs = 0,
): Promise<Omit<TlsFiles, 'clientCa'>> {
  const files = { certificate: join(directory, 'kubelet.crt'), key: join(directory, 'kubelet.key') };
  if (await isUsable(files, now + renewBeforeMs)) return files;
  const made = await createSelfSigned(host, now);
  await mkdir(directory, { recursive: true });
  // Synced to disk: a kubelet with an empty key file after a power failure would not start.
  await writeFileAtomically(files.key, made.key, { mode: 0o600, durable: true });
  await writeFileAtomically(files.certificate, made.certificate, { mode: 0o644, durable: true });
  log.info('Using self-signed cert', { certFile: files.certificate, keyFile: files.key });
  return files;
}

async function isUsable(files: Omit<TlsFiles, 'clientCa'>, at: number): Promise<boolean> {
  try {
    const parsed = new X509Certificate((await readTlsMaterial({ ...files, clientCa: '' })).certificate);
    // A certificate that the kubelet has not created is never replaced: its owner sees in the clients that it has expired.
    return at < parsed.validToDate.getTime() || !/-ca@\d+$/.test(parsed.issuer);
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

/** A periodic check beside the events of the file system: for directories that can't be watched, and links above them that change. */
const LOOK_EVERY_MS = 10_000;
/** A certificate and its key are written one after the other. */
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

/** Until the signal aborts. A broken file is logged once, and the last good pair stays in use. */
export async function watchTlsFiles(
  files: TlsFiles,
  first: TlsMaterial,
  deps: TlsWatchDeps,
  signal: AbortSignal,
): Promise<void> {
  const check = createCheck(files, first, deps);
  const { clock, log, inotify, everyMs = LOOK_EVERY_MS } = deps;
  const bit = createWakeBit();
  const alarm = createAlarm(clock, bit.wake);
  let events = 0;
  let seen = 0;
  const onFileChange = () => {
    events += 1;
    bit.wake();
  };
  const watch = inotify && createFileWatch({ inotify, log, onChange: onFileChange });
  const paths = [files.certificate, files.key, files.clientCa, files.signed ?? ''].filter((path) => path !== '');
  // A change before the watch exists is found by the first check.
  const pass = async (): Promise<void> => {
    await watch?.follow(paths);
    await check();
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
  watch?.close();
}

/** Reads the files; reports the pair if it is new and valid. */
function createCheck(files: TlsFiles, first: TlsMaterial, { log, onChange }: TlsWatchDeps): () => Promise<void> {
  let used = first;
  let logged = '';
  return async () => {
    try {
      const found = await readTexts(files);
      if (!same(found, used)) checkMaterial(files, found);
      logged = '';
      if (same(found, used)) return;
      used = found;
      onChange(found);
      const { certificate: certFile, clientCa: clientCAFile } = files;
      log.info('Reloaded the certificates of the server', { certFile, clientCAFile });
    } catch (error) {
      const text = describeError(error);
      if (text !== logged)
        log.error('Failed to reload the certificates of the server, the last good ones stay in use', { err: error });
      logged = text;
    }
  };
}

const same = (a: TlsMaterial, b: TlsMaterial) =>
  a.certificate === b.certificate && a.key === b.key && a.clientCa === b.clientCa;
