import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readKubeconfig } from './kubeconfig.ts';

const PEM = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n';
const base64 = (text: string) => Buffer.from(text).toString('base64');

function kubeconfig(cluster: object, user: object = {}, more: object = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'other', cluster: { server: 'https://192.0.2.99' } },
      { name: 'lab', cluster: { server: 'https://192.0.2.1:6443', ...cluster } },
    ],
    users: [{ name: 'me', user }],
    contexts: [{ name: 'here', context: { cluster: 'lab', user: 'me' } }],
    'current-context': 'here',
    ...more,
  });
}

function read(text: string) {
  const answer = readKubeconfig(text, 'kubelet.conf');
  assert.ok('access' in answer, 'problems' in answer ? answer.problems.join('\n') : '');
  return answer;
}

const pair = { 'client-certificate-data': base64(PEM), 'client-key-data': base64(PEM) };
const exec = {
  apiVersion: 'client.authentication.k8s.io/v1',
  command: 'get-token',
  interactiveMode: 'IfAvailable',
};

describe('a kubeconfig', () => {
  test('names one cluster and one user by its current context', () => {
    const { cluster, user } = read(kubeconfig({ 'certificate-authority': 'ca.crt' }, pair)).access;
    assert.deepEqual(cluster.endpoint, {
      secure: true,
      host: '192.0.2.1',
      port: 6443,
      basePath: '',
      text: 'https://192.0.2.1:6443',
    });
    assert.deepEqual(cluster.authority, { kind: 'file', path: 'ca.crt' });
    assert.deepEqual(user.certificate?.cert, { kind: 'inline', pem: PEM });
  });

  test('is YAML as kubeadm writes it', () => {
    const text = `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${base64(PEM)}
    server: https://192.0.2.1:6443
  name: kubernetes
contexts:
- context: {cluster: kubernetes, user: default-auth}
  name: default-context
current-context: default-context
kind: Config
preferences: {}
users:
- name: default-auth
  user:
    client-certificate: /var/lib/kubelet/pki/kubelet-client-current.pem
    client-key: /var/lib/kubelet/pki/kubelet-client-current.pem
`;
    const { access, warnings } = read(text);
    assert.deepEqual(access.user.certificate?.key, {
      kind: 'file',
      path: '/var/lib/kubelet/pki/kubelet-client-current.pem',
    });
    assert.deepEqual(warnings, []);
  });

  test('may have no user: requests are anonymous', () => {
    const contexts = [{ name: 'here', context: { cluster: 'lab' } }];
    const { user } = read(kubeconfig({}, {}, { contexts })).access;
    assert.deepEqual(
      { ...user },
      {
        certificate: undefined,
        token: undefined,
        tokenFile: undefined,
        basic: undefined,
        exec: undefined,
        impersonation: {},
      },
    );
  });

  test('reports fields that have no effect', () => {
    const { warnings } = read(kubeconfig({ sever: 'x' }));
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /^kubelet\.conf:1:\d+: clusters\[1\]\.cluster\.sever: unknown field, not used$/);
  });

  test('may name the user to impersonate', () => {
    const { impersonation } = read(
      kubeconfig(
        {},
        {
          as: 'system:node:a',
          'as-uid': '7',
          'as-groups': ['system:nodes', 'x'],
          'as-user-extra': { 'Example.org/Scope%': ['dev'] },
        },
      ),
    ).access.user;
    assert.deepEqual(impersonation, {
      'impersonate-user': 'system:node:a',
      'impersonate-uid': '7',
      'impersonate-group': ['system:nodes', 'x'],
      'impersonate-extra-example.org%2Fscope%25': ['dev'],
    });
  });

  test('may name an exec plugin with its arguments and environment', () => {
    const env = [{ name: 'REGION', value: 'x' }, { name: 'EMPTY' }];
    const config = { name: 'client.authentication.k8s.io/exec', extension: { audience: 'a' } };
    const { cluster, user } = read(
      kubeconfig({ extensions: [config] }, { exec: { ...exec, args: ['-v'], env, provideClusterInfo: true } }),
    ).access;
    assert.deepEqual(user.exec, {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'get-token',
      args: ['-v'],
      env: { REGION: 'x', EMPTY: '' },
      installHint: '',
      provideClusterInfo: true,
    });
    assert.deepEqual(cluster.execConfig, { audience: 'a' });
  });

  test('may omit the interactive mode in v1beta1', () => {
    const old = { apiVersion: 'client.authentication.k8s.io/v1beta1', command: 'get-token' };
    assert.equal(read(kubeconfig({}, { exec: old })).access.user.exec?.apiVersion, old.apiVersion);
  });
});

describe('a server', () => {
  const good: readonly [string, object, { host: string; port: number; secure: boolean; basePath: string }][] = [
    ['https://kube.example', {}, { host: 'kube.example', port: 443, secure: true, basePath: '' }],
    ['http://localhost:8080/', {}, { host: 'localhost', port: 8080, secure: false, basePath: '' }],
    ['https://[2001:db8::1]:6443', {}, { host: '2001:db8::1', port: 6443, secure: true, basePath: '' }],
    ['https://rancher/k8s/c-1/', {}, { host: 'rancher', port: 443, secure: true, basePath: '/k8s/c-1' }],
    ['kube:6443', { 'insecure-skip-tls-verify': true }, { host: 'kube', port: 6443, secure: true, basePath: '' }],
    ['192.0.2.1:8080', {}, { host: '192.0.2.1', port: 8080, secure: false, basePath: '' }],
  ];
  for (const [server, more, want] of good) {
    test(`can be ${server} ${JSON.stringify(more)}`, () => {
      const { text: _, ...endpoint } = read(kubeconfig({ server, ...more })).access.cluster.endpoint;
      assert.deepEqual(endpoint, want);
    });
  }
});

describe('a proxy', () => {
  const good: readonly [string, object][] = [
    ['http://192.0.2.3:3128', { kind: 'http', host: '192.0.2.3', port: 3128, login: undefined }],
    ['https://proxy', { kind: 'https', host: 'proxy', port: 443, login: undefined }],
    [
      'socks5://me:p%40ss@proxy',
      { kind: 'socks5', host: 'proxy', port: 1080, login: { user: 'me', password: 'p@ss' } },
    ],
    ['socks5h://[::1]:9', { kind: 'socks5', host: '::1', port: 9, login: undefined }],
  ];
  for (const [url, want] of good) {
    test(`can be ${url}`, () => assert.deepEqual(read(kubeconfig({ 'proxy-url': url })).access.cluster.proxy, want));
  }
});

describe('an invalid kubeconfig is refused with the position and the name of the field:', () => {
  const cluster = (fields: object) => kubeconfig(fields);
  const user = (fields: object) => kubeconfig({}, fields);
  const top = (fields: object) => kubeconfig({}, {}, fields);
  const bad: readonly [string, string, RegExp][] = [
    ['nothing', '', /^kubelet\.conf:1:1: the file is empty$/],
    ['a broken text', 'a: [', /^kubelet\.conf:\d+:\d+: not valid YAML or JSON/],
    ['a list', '[]', /^kubelet\.conf:1:1: must be a map of fields; found a list$/],
    ['another kind', top({ kind: 'Pod' }), /: kind: must be "Config"; found "Pod"/],
    ['another version', top({ apiVersion: 'v2' }), /: apiVersion: must be "v1"; found "v2"/],
    ['no context', top({ 'current-context': '' }), /: current-context: must name a context; there is "here"/],
    [
      'no contexts',
      top({ contexts: [], 'current-context': null }),
      /current-context: must name a context; there are none/,
    ],
    [
      'a strange context',
      top({ 'current-context': 'x' }),
      /: current-context: no context is named "x"; there is "here"/,
    ],
    ['contexts as text', top({ contexts: 'here' }), /: contexts: must be a list; found the string "here"/],
    [
      'a strange cluster',
      top({ contexts: [{ name: 'here', context: { cluster: 'x', user: 'me' } }] }),
      /: contexts\[0\]\.context\.cluster: no cluster is named "x"; there are "other", "lab"/,
    ],
    [
      'no cluster',
      top({ contexts: [{ name: 'here', context: { user: 'me' } }] }),
      /: contexts\[0\]\.context\.cluster: must name a cluster/,
    ],
    ['an empty cluster', top({ clusters: [{ name: 'lab' }] }), /: clusters\[0\]\.cluster: must be given/],
    [
      'a strange user',
      top({ contexts: [{ name: 'here', context: { cluster: 'lab', user: 'x' } }] }),
      /: contexts\[0\]\.context\.user: no user is named "x"; there is "me"/,
    ],
    ['no server', cluster({ server: '' }), /: clusters\[1\]\.cluster\.server: must be given/],
    ['a server that is no URL', cluster({ server: 'https://' }), /cluster\.server: "https:\/\/" is no URL/],
    ['a port out of range', cluster({ server: 'https://a:99999' }), /cluster\.server: .* is no URL/],
    [
      'a server of another scheme',
      cluster({ server: 'ftp://a' }),
      /server: the scheme must be https or http; found "ftp"/,
    ],
    ['a server with a user', cluster({ server: 'https://me:secret@a' }), /server: must hold no user/],
    ['a server with a query', cluster({ server: 'https://a?b=c' }), /server: must hold no query/],
    ['a server as a number', cluster({ server: 7 }), /clusters\[1\]\.cluster\.server: must be a string.*found 7/],
    [
      'an authority without checks',
      cluster({ 'insecure-skip-tls-verify': true, 'certificate-authority': 'ca.crt' }),
      /insecure-skip-tls-verify: must not be true where a certificate authority is given/,
    ],
    [
      'two authorities',
      cluster({ 'certificate-authority-data': base64(PEM), 'certificate-authority': 'ca.crt' }),
      /certificate-authority: must not be given beside certificate-authority-data/,
    ],
    [
      'an authority that is no base64',
      cluster({ 'certificate-authority-data': '%%' }),
      /-authority-data: must be base64/,
    ],
    [
      'an authority in short base64',
      cluster({ 'certificate-authority-data': 'YQ' }),
      /-authority-data: must be base64/,
    ],
    ['an authority that is no PEM', cluster({ 'certificate-authority-data': base64('hi') }), /must hold PEM text/],
    ['a proxy that is no URL', cluster({ 'proxy-url': 'proxy' }), /proxy-url: "proxy" is no URL/],
    [
      'a proxy of another kind',
      cluster({ 'proxy-url': 'ftp://a' }),
      /proxy-url: the scheme must be http, https or socks5/,
    ],
    ['a proxy with a bad escape', cluster({ 'proxy-url': 'http://%zz@a' }), /proxy-url: .*bad % escape/],
    ['a skip in quotes', cluster({ 'insecure-skip-tls-verify': 'true' }), /must be true or false, without quotes/],
    ['a certificate without a key', user({ 'client-certificate': 'a' }), /users\[0\]\.user: client-key or/],
    ['a key without a certificate', user({ 'client-key': 'a' }), /users\[0\]\.user: client-certificate or/],
    [
      'two certificates',
      user({ ...pair, 'client-certificate': 'a' }),
      /users\[0\]\.user\.client-certificate: must not be given beside/,
    ],
    [
      'a token and a password',
      user({ token: 't', username: 'u' }),
      /must have one way to log in; found token, username/,
    ],
    ['an old provider', user({ 'auth-provider': { name: 'gcp' } }), /auth-provider: "gcp" is not built in: .*exec/],
    ['groups of no one', user({ 'as-groups': ['a'] }), /users\[0\]\.user\.as: must be given/],
    ['groups as text', user({ as: 'a', 'as-groups': 'a' }), /as-groups: must be a list/],
    [
      'a program of an old version',
      user({ exec: { ...exec, apiVersion: 'client.authentication.k8s.io/v1alpha1' } }),
      /exec\.apiVersion: must be /,
    ],
    ['a program without a name', user({ exec: { ...exec, command: '' } }), /exec\.command: must name a program/],
    [
      'a program without a mode',
      user({ exec: { ...exec, interactiveMode: undefined } }),
      /exec\.interactiveMode: must be one/,
    ],
    ['a program of a strange mode', user({ exec: { ...exec, interactiveMode: 'Maybe' } }), /found "Maybe"/],
    ['a program that asks', user({ exec: { ...exec, interactiveMode: 'Always' } }), /no one sits before a kubelet/],
    [
      'a variable without a name',
      user({ exec: { ...exec, env: [{ value: 'x' }] } }),
      /exec\.env\[0\]\.name: must be a name/,
    ],
    ['a variable with =', user({ exec: { ...exec, env: [{ name: 'a=b' }] } }), /exec\.env\[0\]\.name: .*found "a=b"/],
  ];
  for (const [what, text, complaint] of bad) {
    test(what, () => {
      const answer = readKubeconfig(text, 'kubelet.conf');
      assert.ok('problems' in answer, 'it was taken');
      assert.match(answer.problems[0] ?? '', complaint);
    });
  }

  test('all problems at once', () => {
    const answer = readKubeconfig(kubeconfig({ server: '', 'proxy-url': 'x' }, { 'client-key': 'k' }), 'kubelet.conf');
    assert.equal('problems' in answer && answer.problems.length, 3);
  });

  test('without showing a secret that is in the wrong field', () => {
    for (const field of ['token', 'password', 'client-key-data']) {
      const answer = readKubeconfig(kubeconfig({}, { [field]: 12_345_678 }), 'kubelet.conf');
      assert.ok('problems' in answer);
      assert.doesNotMatch(answer.problems.join(), /12345678/);
    }
  });
});
