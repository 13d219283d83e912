/** What the kubelet shows to prove who it is: certificates for a connection, headers for a request. */
import { readFile } from 'node:fs/promises';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { RunProgram } from '../host/program.ts';
import { createExecPlugin } from './exec-plugin.ts';
import { checkMaterial, fingerprint, readMaterial, type TlsMaterial } from './pem-files.ts';
import type { ExecCredential } from './rules/exec-credential.ts';
import type { Access } from './rules/kubeconfig.ts';

export interface Credentials {
  /** For a new connection, as it is now. */
  material(signal: AbortSignal): Promise<TlsMaterial>;
  headers(signal: AbortSignal): Promise<OutgoingHttpHeaders>;
  /** The server did not take these headers. Whether there are others now. */
  replace(refused: OutgoingHttpHeaders, signal: AbortSignal): Promise<boolean>;
  /** Rejects where a new connection could not be made with what the files hold. */
  check(): Promise<void>;
  /** Looks at the files again and again; resolves when the signal aborts. */
  watchFiles(signal: AbortSignal): Promise<void>;
  stop(): void;
}

export interface CredentialsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly run?: RunProgram;
  /** The certificates of new connections are others than those of the connections that there are. */
  onChange(reason: string): void;
}

const LOOK_AT_FILES_MS = 10_000;

export function createCredentials(deps: CredentialsDeps, access: Access): Credentials {
  const { clock, log } = deps;
  const { user, cluster } = access;
  const token = createToken(deps, access);
  const plugin =
    user.exec === undefined
      ? undefined
      : createExecPlugin(deps, user.exec, { cluster, authority: async () => (await readMaterial(access)).ca });
  let shown: ExecCredential | undefined;

  const fromPlugin = async (signal: AbortSignal): Promise<ExecCredential | undefined> => {
    const credential = await plugin?.credential(signal);
    if (shown?.certificate?.cert !== undefined && shown.certificate.cert !== credential?.certificate?.cert) {
      shown = credential;
      deps.onChange('the credential plugin gave another certificate');
    }
    return credential;
  };
  const material = async (signal: AbortSignal): Promise<TlsMaterial> => {
    const files = await readMaterial(access);
    const credential = files.cert === undefined ? await plugin?.credential(signal) : undefined;
    shown = credential;
    return { ...files, ...credential?.certificate };
  };
  const headers = async (signal: AbortSignal): Promise<OutgoingHttpHeaders> => {
    const bearer = (await token()) ?? (await fromPlugin(signal))?.token;
    const authorization = bearer === undefined ? basicLogin(access) : `Bearer ${bearer}`;
    return { ...user.impersonation, ...(authorization === undefined ? {} : { authorization }) } as OutgoingHttpHeaders;
  };
  return {
    material,
    headers,
    replace: async (refused, signal) => {
      // Somebody else's request was refused before, and theirs are replaced already.
      if ((await headers(signal)).authorization !== refused.authorization) return true;
      if (plugin !== undefined) {
        const old = await plugin.credential(signal);
        const other = await plugin.replace(old, signal);
        if (other !== old) {
          await fromPlugin(signal);
          return true;
        }
      }
      token.forget();
      return (await headers(signal)).authorization !== refused.authorization;
    },
    check: async () => checkMaterial(await readMaterial(access)),
    watchFiles: async (signal) => {
      let known = await fingerprint(access);
      while (!signal.aborted) {
        await clock.sleep(LOOK_AT_FILES_MS, signal).catch(() => undefined);
        const now = await fingerprint(access);
        if (now === known || now.includes('missing')) continue;
        try {
          checkMaterial(await readMaterial(access));
          known = now;
          deps.onChange('certificate files have changed');
        } catch (err) {
          // Perhaps half of a pair is written: the connections that there are stay as they are until it is whole.
          log.warn('New certificate files for the API server are not usable', { err });
        }
      }
    },
    stop: () => plugin?.stop(),
  };
}

function basicLogin({ user: { basic } }: Access): string | undefined {
  return basic && `Basic ${Buffer.from(`${basic.user}:${basic.password}`).toString('base64')}`;
}

interface Token {
  (): Promise<string | undefined>;
  /** The next look reads the file. */
  forget(): void;
}

/** A token file is read again and again, because whoever writes it replaces the token before it expires. */
const TOKEN_IS_FRESH_MS = 10_000;

function createToken({ clock, log }: CredentialsDeps, { user }: Access): Token {
  const { tokenFile } = user;
  let known = user.token;
  let readAt: number | undefined;
  const read = async () => {
    if (tokenFile === undefined || (readAt !== undefined && clock.mono() - readAt < TOKEN_IS_FRESH_MS)) return known;
    try {
      const text = (await readFile(tokenFile, 'utf8')).trim();
      if (text === '') throw new Error('it is empty');
      known = text;
      readAt = clock.mono();
    } catch (cause) {
      if (known === undefined) {
        throw new CodedError('unavailable', `the token file ${tokenFile} can't be used`, { cause });
      }
      readAt = clock.mono();
      log.warn('The token file is not readable: the last token is used', { path: tokenFile, err: cause });
    }
    return known;
  };
  return Object.assign(read, {
    forget: () => {
      readAt = undefined;
    },
  });
}
