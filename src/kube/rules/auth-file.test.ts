import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withAuthFile } from './auth-file.ts';
import { type Access, readKubeconfig } from './kubeconfig.ts';

function accessOf(): Access {
  const kubeconfig = {
    clusters: [{ name: 'c', cluster: { server: 'https://api.example' } }],
    users: [{ name: 'u', user: { token: 'old' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  const read = readKubeconfig(JSON.stringify(kubeconfig), 'kubeconfig');
  assert.ok('access' in read);
  return read.access;
}

function merged(file: object): Access {
  const outcome = withAuthFile(accessOf(), JSON.stringify(file));
  assert.ok('access' in outcome, JSON.stringify(outcome));
  return outcome.access;
}

test('credentials of the file replace those of the kubeconfig, the server stays', () => {
  const { cluster, user } = merged({ BearerToken: 'new', CAFile: 'ca.crt' });
  assert.deepEqual(cluster.endpoint, accessOf().cluster.endpoint);
  assert.deepEqual(cluster.authority, { kind: 'file', path: 'ca.crt' });
  assert.equal(user.token, 'new');
});

test('each way to log in is read, names in any case', () => {
  assert.deepEqual(merged({ user: 'a', PASSWORD: 'b' }).user.basic, { user: 'a', password: 'b' });
  assert.deepEqual(merged({ CertFile: 'c', KeyFile: 'k' }).user.certificate, {
    cert: { kind: 'file', path: 'c' },
    key: { kind: 'file', path: 'k' },
  });
  assert.equal(merged({ user: 'a' }).user.token, undefined);
});

test('a file without credentials leaves those of the kubeconfig', () => {
  const { cluster, user } = merged({ Insecure: true });
  assert.deepEqual([cluster.skipVerify, user.token], [true, 'old']);
});

test('what can not be used is a problem that shows no secret', () => {
  for (const text of ['{"BearerToken": "s3cret"', '{"BearerToken": 5}', '[]', '{"CertFile": "s3cret"}']) {
    const outcome = withAuthFile(accessOf(), text);
    assert.ok('problem' in outcome, text);
    assert.doesNotMatch(outcome.problem, /s3cret/);
  }
});
