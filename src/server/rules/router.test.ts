import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Route } from '../routes.ts';
import { cleanPath, createRouter, metricPath, type RouterSettings, splitTarget, verbOf } from './router.ts';

const nothing = () => undefined;
const route = (name: string, pattern: string, more: Partial<Route> = {}): Route => ({
  name,
  methods: ['GET'],
  pattern,
  access: { subresource: name, verb: 'method' },
  port: 'secure',
  switch: 'debugging',
  handle: nothing,
  ...more,
});

const ROUTES: readonly Route[] = [
  route('pods', '/pods', { port: 'both', switch: 'always' }),
  route('healthz', '/healthz', { port: 'both', switch: 'always', methods: ['GET', 'HEAD'] }),
  route('healthz', '/healthz/{check:*}', { port: 'both', switch: 'always' }),
  route('runningpods', '/runningpods/'),
  route('exec', '/exec/{ns}/{pod}/{container}', { methods: ['GET', 'POST'] }),
  route('exec', '/exec/{ns}/{pod}/{uid}/{container}', { methods: ['GET', 'POST'] }),
  route('logs', '/logs/{path:*}', { switch: 'systemLogs' }),
  route('pprof', '/debug/pprof/{subpath:*}', { switch: 'profiling' }),
  route('heap', '/debug/pprof/heap', { switch: 'heapSnapshots' }),
  route('flags', '/debug/flags/v', { switch: 'debugFlags', methods: ['PUT'] }),
  route('configz', '/configz'),
];

const ALL = { debugging: true, systemLogs: true, profiling: true, debugFlags: true, heapSnapshots: true };
const SECURE: RouterSettings = { port: 'secure', switches: ALL };
const READ_ONLY: RouterSettings = { port: 'readOnly', switches: ALL };
const off = (...names: (keyof typeof ALL)[]): RouterSettings => ({
  port: 'secure',
  switches: { ...ALL, ...Object.fromEntries(names.map((name) => [name, false])) },
});

/** The name of the route, or what is answered; `!` where everybody is told. */
function outcome(settings: RouterSettings, method: string, path: string): string {
  const match = createRouter(ROUTES, settings)(method, path);
  if (match.kind === 'route') return [match.route.name, ...Object.values(match.parameters)].join(' ');
  const { status, body, headers } = match.answer;
  const text = headers?.['Location'] ?? String(body).trim();
  return `${match.kind === 'nowhere' ? '!' : `(${match.access.subresource}) `}${status} ${text}`;
}

const TABLE: readonly (readonly [RouterSettings, string, string, string])[] = [
  [SECURE, 'GET', '/pods', 'pods'],
  [SECURE, 'POST', '/pods', '(pods) 405 405: Method Not Allowed'],
  [SECURE, 'GET', '/pods/x', '(pods) 404 404: Page Not Found'],
  [SECURE, 'GET', '/podsx', '!404 404 page not found'],
  [SECURE, 'GET', '/', '!404 404 page not found'],
  [SECURE, 'GET', '/healthz', 'healthz'],
  [SECURE, 'GET', '/healthz/ping', 'healthz ping'],
  [SECURE, 'GET', '/runningpods', '!307 /runningpods/'],
  [SECURE, 'GET', '/runningpods/', 'runningpods'],
  [SECURE, 'GET', '/runningpods/x', '(runningpods) 404 404: Page Not Found'],
  [SECURE, 'GET', '/exec/ns/pod/c', 'exec ns pod c'],
  [SECURE, 'POST', '/exec/ns/pod/uid/c', 'exec ns pod uid c'],
  [SECURE, 'DELETE', '/exec/ns/pod/c', '(exec) 405 405: Method Not Allowed'],
  [SECURE, 'GET', '/exec/ns/pod', '(exec) 404 404: Page Not Found'],
  [SECURE, 'GET', '/exec/ns/pod/a/b/c', '(exec) 404 404: Page Not Found'],
  [SECURE, 'GET', '/exec/ns/pod/', '(exec) 404 404: Page Not Found'],
  [SECURE, 'GET', '/exec//pod/c', '!307 /exec/pod/c'],
  [SECURE, 'GET', '/logs/', 'logs '],
  [SECURE, 'GET', '/logs', '!307 /logs/'],
  [SECURE, 'GET', '/logs/a/b', 'logs a/b'],
  [SECURE, 'GET', '/logs/../pods', '!307 /pods'],
  [SECURE, 'GET', '/logs/a/../../etc/passwd', '!307 /etc/passwd'],
  [SECURE, 'GET', '//evil.example/pods', '!307 /evil.example/pods'],
  [SECURE, 'GET', '/debug/pprof/heap', 'heap'],
  [SECURE, 'GET', '/debug/pprof/profile', 'pprof profile'],
  [SECURE, 'PUT', '/debug/pprof/heap', '(heap) 405 405: Method Not Allowed'],
  [SECURE, 'GET', '/debug/other', '(pprof) 404 404: Page Not Found'],
  [SECURE, 'PUT', '/debug/flags/v', 'flags'],
  [off('systemLogs'), 'GET', '/logs/', '(logs) 405 logs endpoint is disabled.'],
  [off('profiling'), 'GET', '/debug/pprof/profile', '(pprof) 405 profiling endpoint is disabled.'],
  [
    off('heapSnapshots'),
    'GET',
    '/debug/pprof/heap',
    '(heap) 405 heap snapshots are disabled: they contain every secret that the kubelet holds. KUBELET_TS_HEAP_SNAPSHOTS=true in its environment enables them.',
  ],
  [off('heapSnapshots'), 'GET', '/debug/pprof/profile', 'pprof profile'],
  [off('debugFlags'), 'PUT', '/debug/flags/v', '(flags) 405 flags endpoint is disabled.'],
  [off('debugging'), 'GET', '/exec/ns/pod/c', '(exec) 405 Debug endpoints are disabled.'],
  [off('debugging'), 'GET', '/debug/pprof/', '(pprof) 405 Debug endpoints are disabled.'],
  [off('debugging'), 'GET', '/configz', '!404 404 page not found'],
  [off('debugging'), 'GET', '/pods', 'pods'],
  [READ_ONLY, 'GET', '/pods', 'pods'],
  [READ_ONLY, 'GET', '/healthz', 'healthz'],
  // As the reference was seen to answer on its read-only port.
  [READ_ONLY, 'GET', '/configz', '!404 404 page not found'],
  [READ_ONLY, 'GET', '/logs/', '(logs) 405 Debug endpoints are disabled.'],
  [READ_ONLY, 'GET', '/exec', '!307 /exec/'],
  [READ_ONLY, 'POST', '/exec/ns/pod/c', '(exec) 405 Debug endpoints are disabled.'],
];

describe('the router', () => {
  for (const [settings, method, path, wanted] of TABLE) {
    const { port, switches } = settings;
    const without = Object.entries(switches).flatMap(([name, on]) => (on ? [] : [name]));
    it(`${port} ${method} ${path}${without.length > 0 ? ` without ${without}` : ''}: ${wanted}`, () =>
      assert.equal(outcome(settings, method, path), wanted));
  }

  for (const [target, wanted] of [
    ['/pods', { path: '/pods', query: '' }],
    ['/pods?a=1?b', { path: '/pods', query: 'a=1?b' }],
    ['/logs/%2e%2e/x', { path: '/logs/../x', query: '' }],
    ['/logs/%2fetc', { path: '/logs//etc', query: '' }],
    ['/logs/%00', undefined],
    ['/logs/a%0ab', undefined],
    ['/logs/%zz', undefined],
    ['*', undefined],
    ['http://evil/pods', undefined],
    ['', undefined],
  ] as const) {
    it(`reads the target ${JSON.stringify(target)}`, () => assert.deepEqual(splitTarget(target), wanted));
  }

  for (const [path, wanted] of [
    ['/', '/'],
    ['/a/./b', '/a/b'],
    ['/a/b/..', '/a/'],
    ['/../..', '/'],
    ['/a//b/', '/a/b/'],
    ['/...', '/...'],
  ] as const) {
    it(`cleans ${path}`, () => assert.equal(cleanPath(path), wanted));
  }

  it('gives the permission that a request needs', () => {
    const enter = { subresource: 'proxy', verb: 'stream' } as const;
    const reveal = { subresource: 'proxy', verb: 'create' } as const;
    const read = { subresource: 'proxy', verb: 'method' } as const;
    assert.deepEqual([verbOf(enter, 'GET', false), verbOf(enter, 'GET', true)], ['create', 'get']);
    assert.deepEqual([verbOf(reveal, 'GET', false), verbOf(reveal, 'GET', true)], ['create', 'create']);
    const verbs = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', '__proto__'].map((method) =>
      verbOf(read, method, false),
    );
    assert.deepEqual(verbs, ['get', 'create', 'update', 'patch', 'delete', '', '']);
  });

  it('has few labels for metrics, whatever paths clients send', () => {
    const roots = new Set(['pods', 'metrics', 'metrics/probes']);
    const label = (path: string) => metricPath(path, roots);
    assert.deepEqual(['/pods/x', '/metrics', '/metrics/probes', '/metrics/a', '/random', '/'].map(label), [
      'pods',
      'metrics',
      'metrics/probes',
      'other',
      'other',
      'other',
    ]);
  });
});
