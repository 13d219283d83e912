/** The user of a kubeconfig: the kubelet's identity and credentials. */
import type { RawExec, RawUser } from './kubeconfig-schema.ts';
import { type Complain, type PemSource, readPem } from './pem-source.ts';

export interface UserAccess {
  readonly certificate: { readonly cert: PemSource; readonly key: PemSource } | undefined;
  /** With a token file too, this one is used until the file can be read. */
  readonly token: string | undefined;
  readonly tokenFile: string | undefined;
  readonly basic: { readonly user: string; readonly password: string } | undefined;
  readonly exec: ExecAccess | undefined;
  /** Names and values of the impersonation headers. */
  readonly impersonation: Readonly<Record<string, string | readonly string[]>>;
}

/** A program that provides the credentials. */
export interface ExecAccess {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint: string;
  readonly provideClusterInfo: boolean;
}

const EXEC_GROUP = 'client.authentication.k8s.io';
const EXEC_VERSIONS = [`${EXEC_GROUP}/v1`, `${EXEC_GROUP}/v1beta1`];
const INTERACTIVE_MODES = ['Never', 'IfAvailable', 'Always'];

export function readUser(raw: RawUser, path: string, complain: Complain): UserAccess | undefined {
  const methods = [
    ...(given(raw.token) || given(raw.tokenFile) ? ['token'] : []),
    ...(given(raw.username) || given(raw.password) ? ['username and password'] : []),
  ];
  if (methods.length > 1) complain(path, `must have one way to log in; found ${methods.join(', ')}`);
  if (raw['auth-provider'] !== undefined) {
    const name = raw['auth-provider'].name ?? '';
    complain(`${path}.auth-provider`, `${JSON.stringify(name)} is not built in: name a program under exec instead`);
  }
  return {
    certificate: readCertificate(raw, path, complain),
    token: raw.token || undefined,
    tokenFile: raw.tokenFile || undefined,
    basic: given(raw.username) ? { user: raw.username, password: raw.password ?? '' } : undefined,
    exec: raw.exec === undefined ? undefined : readExec(raw.exec, `${path}.exec`, complain),
    impersonation: readImpersonation(raw, path, complain),
  };
}

function given(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}

function readCertificate(raw: RawUser, path: string, complain: Complain): UserAccess['certificate'] {
  const cert = readPem(raw, { data: 'client-certificate-data', file: 'client-certificate' }, path, complain);
  const key = readPem(raw, { data: 'client-key-data', file: 'client-key' }, path, complain);
  if (cert !== undefined && key === undefined) complain(path, 'client-key or client-key-data must be given too');
  if (cert === undefined && key !== undefined)
    complain(path, 'client-certificate or client-certificate-data must be given too');
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

function readExec(raw: RawExec, path: string, complain: Complain): ExecAccess | undefined {
  const { apiVersion = '', command = '', env = [] } = raw;
  if (!EXEC_VERSIONS.includes(apiVersion)) {
    complain(`${path}.apiVersion`, `must be ${EXEC_VERSIONS.join(' or ')}; found ${JSON.stringify(apiVersion)}`);
  }
  if (command === '') complain(`${path}.command`, 'must name a program');
  const mode = raw.interactiveMode ?? '';
  if (mode === '' && apiVersion === EXEC_VERSIONS[0]) {
    complain(`${path}.interactiveMode`, `must be one of ${INTERACTIVE_MODES.join(', ')}`);
  } else if (mode !== '' && !INTERACTIVE_MODES.includes(mode)) {
    complain(
      `${path}.interactiveMode`,
      `must be one of ${INTERACTIVE_MODES.join(', ')}; found ${JSON.stringify(mode)}`,
    );
  } else if (mode === 'Always') {
    complain(`${path}.interactiveMode`, 'must not be Always: no one sits before a kubelet');
  }
  env.forEach(({ name = '' }, index) => {
    if (name === '' || name.includes('=')) {
      complain(`${path}.env[${index}].name`, `must be a name without =; found ${JSON.stringify(name)}`);
    }
  });
  return {
    apiVersion,
    command,
    args: raw.args ?? [],
    env: Object.fromEntries(env.map(({ name = '', value = '' }) => [name, value])),
    installHint: raw.installHint ?? '',
    provideClusterInfo: raw.provideClusterInfo ?? false,
  };
}

function readImpersonation(raw: RawUser, path: string, complain: Complain): UserAccess['impersonation'] {
  const groups = raw['as-groups'] ?? [];
  const extra = Object.entries(raw['as-user-extra'] ?? {});
  const uid = raw['as-uid'] ?? '';
  if (!given(raw.as)) {
    if (groups.length > 0 || extra.length > 0 || uid !== '') {
      complain(`${path}.as`, 'must be given where as-uid, as-groups or as-user-extra are');
    }
    return {};
  }
  return {
    'impersonate-user': raw.as,
    ...(uid === '' ? {} : { 'impersonate-uid': uid }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
    ...Object.fromEntries(extra.map(([key, values]) => [`impersonate-extra-${escapeKey(key)}`, values])),
  };
}

/** Keys are case-insensitive in a header and may hold characters that a header's name can't. */
function escapeKey(key: string): string {
  const bytes = Array.from(new TextEncoder().encode(key.toLowerCase()));
  const isToken = (char: string) => /[a-z0-9!#$&'*+.^_`|~-]/.test(char);
  return bytes
    .map((byte) => {
      const char = String.fromCharCode(byte);
      return isToken(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}
