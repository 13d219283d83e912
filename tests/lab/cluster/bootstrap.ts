/**
 * What lets a new node join with nothing but a token: the token, and the rights of its group to ask for a client certificate
 * and to have it approved by the controller manager. The names are the ones that kubeadm gives them.
 */
export interface BootstrapToken {
  /** Six characters; the name of the Secret ends with it. */
  readonly id: string;
  readonly secret: string;
  /** `id.secret`, as a client shows it. */
  readonly token: string;
}

export interface ObjectToCreate {
  /** The collection to post it to. */
  readonly path: string;
  readonly object: Readonly<Record<string, unknown>>;
}

export const BOOTSTRAP_GROUP = 'system:bootstrappers:kubeadm:default-node-token';

export function createBootstrapToken(id: string, secret: string): BootstrapToken {
  if (!/^[a-z0-9]{6}$/.test(id)) throw new Error(`bootstrap token id ${JSON.stringify(id)}: want 6 of a-z and 0-9`);
  if (!/^[a-z0-9]{16}$/.test(secret)) throw new Error(`bootstrap token secret of ${id}: want 16 of a-z and 0-9`);
  return { id, secret, token: `${id}.${secret}` };
}

export function bootstrapObjects(token: BootstrapToken): readonly ObjectToCreate[] {
  return [
    tokenSecret(token),
    binding('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', BOOTSTRAP_GROUP),
    binding(
      'kubeadm:node-autoapprove-bootstrap',
      'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
      BOOTSTRAP_GROUP,
    ),
    binding(
      'kubeadm:node-autoapprove-certificate-rotation',
      'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
      'system:nodes',
    ),
  ];
}

function tokenSecret({ id, secret }: BootstrapToken): ObjectToCreate {
  return {
    path: '/api/v1/namespaces/kube-system/secrets',
    object: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
      type: 'bootstrap.kubernetes.io/token',
      stringData: {
        'token-id': id,
        'token-secret': secret,
        'usage-bootstrap-authentication': 'true',
        'usage-bootstrap-signing': 'true',
        'auth-extra-groups': BOOTSTRAP_GROUP,
      },
    },
  };
}

function binding(name: string, role: string, group: string): ObjectToCreate {
  return {
    path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
    object: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
    },
  };
}
