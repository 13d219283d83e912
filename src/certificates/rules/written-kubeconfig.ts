/** The kubeconfig that a node gets when it joins with a bootstrap kubeconfig: the same server, and the node's own certificate. */
export interface WrittenKubeconfig {
  readonly server: string;
  readonly skipVerify: boolean;
  /** The authority: a file, or PEM text. */
  readonly authority:
    | { readonly kind: 'file'; readonly path: string }
    | { readonly kind: 'inline'; readonly pem: string }
    | undefined;
  /** The file with certificate and key. */
  readonly pair: string;
}

/** Keys in alphabetical order, as the reference writes them. */
export function renderKubeconfig(given: WrittenKubeconfig, toBase64: (text: string) => string): string {
  const { server, skipVerify, authority, pair } = given;
  const authorityLine =
    authority === undefined
      ? []
      : authority.kind === 'file'
        ? [`    certificate-authority: ${scalar(authority.path)}`]
        : [`    certificate-authority-data: ${toBase64(authority.pem)}`];
  return [
    'apiVersion: v1',
    'clusters:',
    '- cluster:',
    ...authorityLine,
    ...(skipVerify ? ['    insecure-skip-tls-verify: true'] : []),
    `    server: ${scalar(server)}`,
    '  name: default-cluster',
    'contexts:',
    '- context:',
    '    cluster: default-cluster',
    '    namespace: default',
    '    user: default-auth',
    '  name: default-context',
    'current-context: default-context',
    'kind: Config',
    'users:',
    '- name: default-auth',
    '  user:',
    `    client-certificate: ${scalar(pair)}`,
    `    client-key: ${scalar(pair)}`,
    '',
  ].join('\n');
}

/** Plain where YAML reads it back as it is. */
const scalar = (text: string): string => (/^[A-Za-z/][\w./:@-]*$/.test(text) ? text : JSON.stringify(text));
