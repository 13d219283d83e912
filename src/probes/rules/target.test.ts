import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IntOrString } from '../../api/container.ts';
import { formatTarget, httpTarget, joinHostPort, requestHeaders, requestPath, resolvePort } from './target.ts';

const container = {
  name: 'c',
  ports: [{ name: 'web', containerPort: 8080 }, { containerPort: 9 }, { name: '70', containerPort: 7000 }],
};

const ports: readonly [IntOrString, number | RegExp][] = [
  [80, 80],
  ['web', 8080],
  ['443', 443],
  ['70', 7000],
  [0, /^invalid port number: 0$/],
  [65_536, /^invalid port number: 65536$/],
  [-1, /^invalid port number: -1$/],
  ['', /port "": the container has no port of that name/],
  ['nope', /port "nope": the container has no port of that name/],
  ['80x', /port "80x"/],
];

for (const [port, expected] of ports) {
  test(`port ${JSON.stringify(port)}`, () => {
    const found = resolvePort(port, container);
    if (expected instanceof RegExp) assert.match(found.ok ? 'no problem' : found.problem, expected);
    else assert.deepEqual(found, { ok: true, value: expected });
  });
}

/** As the reference's client sends them, seen on the wire. */
const paths: readonly [string, string][] = [
  ['/', '/'],
  ['', '/'],
  ['healthz', '/healthz'],
  ['/a b', '/a%20b'],
  ['//evil/path', '/path'],
  ['http://x/y?z', '/y?z'],
  ['http://x?z', '/?z'],
  ['/%zz?a=b', '/%25zz%3Fa=b'],
  ['/ü', '/%C3%BC'],
  ['/a#frag', '/a'],
  ['?q=1', '/?q=1'],
  ['/a"<b>', '/a%22%3Cb%3E'],
  ['/a/../b', '/a/../b'],
  ['/a%2Fb?x=%20', '/a%2Fb?x=%20'],
  ['/x{}', '/x%7B%7D'],
  ['/x?a=1&b=2', '/x?a=1&b=2'],
  ['/x\u0001', '/x%01'],
  // These can't be sent as they are.
  ['/a?b c', '/a?b%20c'],
  ['/?q=ü\r\nX: y', '/?q=%C3%BC%0D%0AX:%20y'],
];

for (const [path, expected] of paths) {
  test(`path ${JSON.stringify(path)}`, () => {
    assert.equal(requestPath(path), expected);
  });
}

test('a target has the address of the pod unless a host is named', () => {
  const of = (action: object) => {
    const target = httpTarget({ port: 'web', ...action }, container, 'fd00::5');
    return target.ok ? formatTarget(target.value) : target.problem;
  };
  assert.equal(of({ path: '/x' }), 'http://[fd00::5]:8080/x');
  assert.equal(of({ host: 'example.com', scheme: 'HTTPS' }), 'https://example.com:8080/');
  assert.equal(of({ host: '' }), 'http://[fd00::5]:8080/');
  assert.equal(of({ port: 'gone' }), 'port "gone": the container has no port of that name');
  assert.equal(joinHostPort('10.0.0.1', 80), '10.0.0.1:80');
});

test('headers: defaults, replacements, left out ones, those that are not the pod’s business', () => {
  const of = (...pairs: [string, string][]) =>
    requestHeaders(
      pairs.map(([name, value]) => ({ name, value })),
      'kube-probe/1.36',
    );
  const agent = ['User-Agent', 'kube-probe/1.36'];
  const accept = ['Accept', '*/*'];
  assert.deepEqual(requestHeaders(undefined, 'a'), { host: undefined, others: [['User-Agent', 'a'], accept] });
  assert.deepEqual(of(['X', '1'], ['X', '2']), { host: undefined, others: [agent, accept, ['X', '1'], ['X', '2']] });
  assert.deepEqual(of(['user-agent', 'me'], ['ACCEPT', 'a/b']).others, [
    ['user-agent', 'me'],
    ['ACCEPT', 'a/b'],
  ]);
  assert.deepEqual(of(['User-Agent', ''], ['Accept', '']).others, []);
  assert.deepEqual(of(['Host', 'a.example'], ['Content-Length', '5'], ['connection', 'keep-alive']), {
    host: 'a.example',
    others: [agent, accept],
  });
});
