/** The file of `--auth-path`: credentials in the form that kubelets read before there were kubeconfigs. */
import type { Access } from './kubeconfig.ts';
import type { PemSource } from './pem-source.ts';

const FIELDS = ['User', 'Password', 'CAFile', 'CertFile', 'KeyFile', 'BearerToken'] as const;

type AuthFile = Readonly<Record<(typeof FIELDS)[number], string>> & { readonly Insecure: boolean };

export type AuthOutcome = { readonly access: Access } | { readonly problem: string };

/** The server is that of the kubeconfig; what the file has replaces what the kubeconfig says of it. Names count in any case, as they did. */
export function withAuthFile(access: Access, text: string): AuthOutcome {
  const read = readAuthFile(text);
  if (typeof read === 'string') return { problem: read };
  const { User, Password, CAFile, CertFile, KeyFile, BearerToken, Insecure } = read;
  if ((CertFile === '') !== (KeyFile === '')) return { problem: 'CertFile and KeyFile must be given together' };
  const { cluster, user } = access;
  const hasCredentials = [User, CertFile, BearerToken].some((one) => one !== '');
  const credentials: Access['user'] = {
    ...user,
    certificate: CertFile === '' ? undefined : { cert: file(CertFile), key: file(KeyFile) },
    token: BearerToken === '' ? undefined : BearerToken,
    tokenFile: undefined,
    basic: User === '' ? undefined : { user: User, password: Password },
    exec: undefined,
  };
  return {
    access: {
      cluster: {
        ...cluster,
        authority: CAFile === '' ? cluster.authority : file(CAFile),
        skipVerify: Insecure || cluster.skipVerify,
      },
      user: hasCredentials ? credentials : user,
    },
  };
}

const file = (path: string): PemSource => ({ kind: 'file', path });

function readAuthFile(text: string): AuthFile | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return 'must be JSON'; // what V8 says of it would show a part of the credentials
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return 'must be a JSON object';
  const given = new Map(Object.entries(parsed).map(([name, value]) => [name.toLowerCase(), value]));
  const wrong = FIELDS.find((name) => !['string', 'undefined'].includes(typeof given.get(name.toLowerCase())));
  if (wrong !== undefined) return `${wrong} must be a string`;
  const texts = Object.fromEntries(FIELDS.map((name) => [name, String(given.get(name.toLowerCase()) ?? '')]));
  // Every name of the table is there.
  return { ...texts, Insecure: given.get('insecure') === true } as AuthFile;
}
