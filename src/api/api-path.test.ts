import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { codeOf } from '../base/errors.ts';
import { apiPath, apiPathBelow, fieldEquals } from './api-path.ts';

test('a path has its names as segments', () => {
  const [namespace, name] = ['ns', 'web'];
  const pod = apiPath`/api/v1/namespaces/${namespace}/pods/${name}`;
  assert.equal(pod, '/api/v1/namespaces/ns/pods/web');
  assert.equal(apiPathBelow(pod, 'status'), '/api/v1/namespaces/ns/pods/web/status');
  assert.equal(apiPath`/api/v1/nodes/${'a?b#c d'}`, '/api/v1/nodes/a%3Fb%23c%20d');
});

for (const name of ['', '.', '..', '../secrets/x', 'a/b', '/', 'a%2fb', '%2e%2e', '\ud800']) {
  test(`${JSON.stringify(name)} is refused`, () => {
    const isInvalid = (error: unknown) => codeOf(error) === 'invalid';
    assert.throws(() => apiPath`/api/v1/namespaces/${'ns'}/secrets/${name}`, isInvalid);
    assert.throws(() => apiPathBelow(apiPath`/api/v1/nodes`, name), isInvalid);
  });
}

test('whatever the name, a server that decodes the path sees that name, below that collection', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      let path: string;
      try {
        path = apiPath`/api/v1/namespaces/ns/secrets/${name}`;
      } catch (error) {
        assert.equal(codeOf(error), 'invalid');
        return;
      }
      const { pathname, search, hash } = new URL(path, 'https://api.example');
      assert.deepEqual([search, hash], ['', '']);
      assert.deepEqual(decodeURIComponent(pathname).split('/'), ['', 'api', 'v1', 'namespaces', 'ns', 'secrets', name]);
    }),
    { numRuns: 2000 },
  );
});

test('a selector asks for one value, whatever it is', () => {
  assert.equal(fieldEquals('metadata.name', 'a.b-c'), 'metadata.name=a.b-c');
  assert.equal(fieldEquals('metadata.name', 'a,b=c\\d'), String.raw`metadata.name=a\,b\=c\\d`);
});
