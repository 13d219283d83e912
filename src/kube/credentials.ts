/** The kubelet's credentials: certificates for a connection, headers for a request. */
import { readFile } from 'node:fs/promises';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { RunProgram } from '../host/program.ts';
import { createExecPlugin } from './exec-plugin.ts';
import { checkMaterial, fileMark, fingerprint, readMaterial, type TlsMaterial } from './pem-files.ts';
import type { ExecCredential } from './rules/exec-credential.ts';
import type { Access } from './rules/kubeconfig.ts';

export interface Credentials {
  /** From the current kubeconfig. */
  access(): Access;
  /** For a new connection: the current content of the files. */
  material(signal: AbortSignal): Promise<TlsMaterial>;
  headers(signal: AbortSignal): Promise<OutgoingHttpHeaders>;
  /** The server refused these headers. Resolves with whether there are new ones. */
  replace(refused: OutgoingHttpHeaders, signal: AbortSignal): Promise<boolean>;
  /** Rejects if the content of the files can't be used for a connection. */
  check(): Promise<void>;
  /** Uses the current content of the kubeconfig and of the files. */
  refresh(reason: string): Promise<void>;
  /** Checks the files periodically; resolves when the signal aborts. */
  watchFiles(signal: AbortSignal): Promise<void>;
  stop(): void;
}

export interface CredentialsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly run?: RunProgram;
  /** The kubeconfig itself, which an administrator may replace to change the credentials. */
  readonly kubeconfig: { readonly path: string; load(): Promise<Access> };
  /** New connections use other certificates than the open ones. */
  onChange(reason: string): void;
}

const LOOK_AT_FILES_MS = 10_000;

export function createCredentials(deps: CredentialsDeps, first: Access): Credentials {
  let access = first;
  let login = createLogin(deps, access);
  let shown: ExecCredential | undefined;

  const fromPlugin = async (signal: AbortSignal): Promise<ExecCredential | undefined> => {
    const credential = await login.plugin?.credential(signal);
    if (shown?.certificate?.cert !== undefined && shown.certificate.cert !== credential?.certificate?.cert) {
      shown = credential;
      deps.onChange('the credential plugin gave another certificate');
    }
    return credential;
  };
  const material = async (signal: AbortSignal): Promise<TlsMaterial> => {
    const files = await readMaterial(access);
    const credential = files.cert === undefined ? await login.plugin?.credential(signal) : undefined;
    shown = credential;
    return { ...files, ...credential?.certificate };
  };
  const headers = async (signal: AbortSignal): Promise<OutgoingHttpHeaders> => {
    const bearer = (await login.token()) ?? (await fromPlugin(signal))?.token;
    const authorization = bearer === undefined ? basicLogin(access) : `Bearer ${bearer}`;
    const { impersonation } = access.user;
    return { ...impersonation, ...(authorization === undefined ? {} : { authorization }) } as OutgoingHttpHeaders;
  };
  const replace = async (refused: OutgoingHttpHeaders, signal: AbortSignal): Promise<boolean> => {
    // Another request was refused earlier, and the headers have been replaced since.
    if ((await headers(signal)).authorization !== refused.authorization) return true;
    const { plugin, token } = login;
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
  };
  const adopt = (next: Access): void => {
    if (next === access) return;
    login.plugin?.stop();
    access = next;
    login = createLogin(deps, next);
  };
  return {
    access: () => access,
    material,
    headers,
    replace,
    check: async () => checkMaterial(await readMaterial(access)),
    refresh: async (reason) => {
      const next = await loadForSameServer(deps.kubeconfig, access);
      checkMaterial(await readMaterial(next));
      adopt(next);
      deps.onChange(reason);
    },
    watchFiles: (signal) => watchFiles(deps, { access: () => access, adopt }, signal),
    stop: () => login.plugin?.stop(),
  };
}

function createLogin(deps: CredentialsDeps, access: Access) {
  const { user, cluster } = access;
  const authority = async () => (await readMaterial(access)).ca;
  const plugin = user.exec === undefined ? undefined : createExecPlugin(deps, user.exec, { cluster, authority });
  return { token: createToken(deps, access), plugin };
}

interface Adopter {
  access(): Access;
  adopt(next: Access): void;
}

async function watchFiles(deps: CredentialsDeps, { access, adopt }: Adopter, signal: AbortSignal): Promise<void> {
  const { clock, log, kubeconfig } = deps;
  let seen: { readonly config: string; readonly files: string } | undefined;
  const look = async (): Promise<void> => {
    const [config, files] = [await fileMark(kubeconfig.path), await fingerprint(access())];
    seen ??= { config, files };
    // A kubeconfig that was deleted changes nothing: it has been read.
    const isReplaced = config !== seen.config && config !== 'missing';
    if ((!isReplaced && files === seen.files) || files.includes('missing')) return;
    try {
      const next = isReplaced ? await loadForSameServer(kubeconfig, access()) : access();
      checkMaterial(await readMaterial(next));
      adopt(next);
      seen = { config: isReplaced ? config : seen.config, files: await fingerprint(next) };
      deps.onChange(isReplaced ? 'the kubeconfig has changed' : 'certificate files have changed');
    } catch (err) {
      // Perhaps it is only half written: open connections stay until it is complete.
      log.warn('Failed to load the changed kubeconfig or certificate files, the old ones stay in use', { err });
    }
  };
  const rest = () => clock.sleep(LOOK_AT_FILES_MS, signal);
  await deps.supervisor.run({ name: 'credential files', pass: look, rest }, signal);
}

/** Another cluster has other pods: that needs a restart of the kubelet. */
async function loadForSameServer({ path, load }: CredentialsDeps['kubeconfig'], known: Access): Promise<Access> {
  const next = await load();
  const [before, now] = [known.cluster.endpoint.text, next.cluster.endpoint.text];
  if (before === now) return next;
  throw new CodedError('invalid', `${path} now names the server ${now}: restart the kubelet to leave ${before}`);
}

function basicLogin({ user: { basic } }: Access): string | undefined {
  return basic && `Basic ${Buffer.from(`${basic.user}:${basic.password}`).toString('base64')}`;
}

interface Token {
  (): Promise<string | undefined>;
  /** The next check reads the file. */
  forget(): void;
}

/** A token file is read again and again, because its writer replaces the token before it expires. */
const TOKEN_IS_FRESH_MS = 10_000;

function createToken({ clock, log }: CredentialsDeps, { user }: Access): Token {
  const { tokenFile } = user;
  let known = user.token;
  let readAt: number | undefined;
  const read = async () => {
    if (tokenFile === undefined || (readAt !== undefined && clock.mono() - readAt < TOKEN_IS_FRESH_MS)) return known;
    try {
      const text = (await readFile(tokenFile, 'utf8')).trim();
      if (text === '') throw new Error('the file is empty');
      known = text;
      readAt = clock.mono();
    } catch (cause) {
      if (known === undefined) {
        throw new CodedError('unavailable', `failed to read the token file ${tokenFile}`, { cause });
      }
      readAt = clock.mono();
      log.warn('Failed to read the token file, using the last token', { path: tokenFile, err: cause });
    }
    return known;
  };
  return Object.assign(read, {
    forget: () => {
      readAt = undefined;
    },
  });
}
