/** The fields of a kubeconfig file. */
import { ANYTHING, BOOL, list, map, STRING, struct } from '../../api/object-schema.ts';

export interface RawKubeconfig {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly 'current-context'?: string;
  readonly clusters?: readonly { readonly name?: string; readonly cluster?: RawCluster }[];
  readonly users?: readonly { readonly name?: string; readonly user?: RawUser }[];
  readonly contexts?: readonly { readonly name?: string; readonly context?: RawContext }[];
}

export interface RawCluster {
  readonly server?: string;
  readonly 'tls-server-name'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'proxy-url'?: string;
  readonly 'disable-compression'?: boolean;
  readonly extensions?: readonly { readonly name?: string; readonly extension?: unknown }[];
}

export interface RawContext {
  readonly cluster?: string;
  readonly user?: string;
}

export interface RawUser {
  readonly 'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  readonly 'client-key'?: string;
  readonly 'client-key-data'?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly as?: string;
  readonly 'as-uid'?: string;
  readonly 'as-groups'?: readonly string[];
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>>;
  readonly 'auth-provider'?: { readonly name?: string };
  readonly exec?: RawExec;
}

export interface RawExec {
  readonly apiVersion?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name?: string; readonly value?: string }[];
  readonly installHint?: string;
  readonly provideClusterInfo?: boolean;
  readonly interactiveMode?: string;
}

const EXTENSIONS = list(struct({ name: STRING, extension: ANYTHING }));

const CLUSTER = struct({
  server: STRING,
  'tls-server-name': STRING,
  'insecure-skip-tls-verify': BOOL,
  'certificate-authority': STRING,
  'certificate-authority-data': STRING,
  'proxy-url': STRING,
  'disable-compression': BOOL,
  extensions: EXTENSIONS,
});

const USER = struct({
  'client-certificate': STRING,
  'client-certificate-data': STRING,
  'client-key': STRING,
  'client-key-data': STRING,
  token: STRING,
  tokenFile: STRING,
  username: STRING,
  password: STRING,
  as: STRING,
  'as-uid': STRING,
  'as-groups': list(STRING),
  'as-user-extra': map(list(STRING)),
  'auth-provider': struct({ name: STRING, config: ANYTHING }),
  exec: struct({
    apiVersion: STRING,
    command: STRING,
    args: list(STRING),
    env: list(struct({ name: STRING, value: STRING })),
    installHint: STRING,
    provideClusterInfo: BOOL,
    interactiveMode: STRING,
  }),
  extensions: EXTENSIONS,
});

export const KUBECONFIG = struct({
  apiVersion: STRING,
  kind: STRING,
  preferences: ANYTHING,
  'current-context': STRING,
  clusters: list(struct({ name: STRING, cluster: CLUSTER })),
  users: list(struct({ name: STRING, user: USER })),
  contexts: list(
    struct({
      name: STRING,
      context: struct({ cluster: STRING, user: STRING, namespace: STRING, extensions: EXTENSIONS }),
    }),
  ),
  extensions: EXTENSIONS,
});
