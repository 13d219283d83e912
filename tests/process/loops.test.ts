/** Every background loop of a kubelet fails once, and goes on. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { loopNames } from '../../tools/loops/rules.ts';
import { until } from '../node/pod-support.ts';
import { type Embedded, embed } from './embedded.ts';
import { temporaryDirectory } from './kubelet.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');

/** Loops that need more than a kubelet without a runtime: where it is tested that they go on. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'pod reconcile': 'tests/pods/isolation.test.ts',
  'pod worker': 'tests/pods/isolation.test.ts',
  'plugin registration': 'src/plugins/plugins.test.ts',
  'iptables rules': 'src/network/iptables.test.ts',
  'pod network': 'src/network/pod-network.test.ts',
  'pod resync': 'src/pods/resync.test.ts',
  'pull progress': 'src/images/progress.test.ts',
  'volume ownership progress': 'src/volumes/ownership.test.ts',
  'node allocatable': 'src/resources/resources.test.ts',
  'cgroup driver': 'src/resources/resources.test.ts',
  'cpu manager': 'src/resources/cpu-reconcile.test.ts',
  'own cgroups': 'src/resources/own-cgroups.test.ts',
  'local API open': 'src/local-api/opening.test.ts',
  'oom watcher': 'src/oom/oom.test.ts',
  'page pods': 'src/page/feed.test.ts',
  'page samples': 'src/page/feed.test.ts',
  'systemd watchdog': 'src/node/watchdog.test.ts',
  statistics: 'src/stats/stats.test.ts',
};

function everyLoop(): readonly string[] {
  const files = globSync('src/**/*.ts', { cwd: ROOT }).filter((file) => !file.endsWith('.test.ts'));
  const names = files.flatMap((file) => loopNames(readFileSync(join(ROOT, file), 'utf8')));
  assert.equal(new Set(names).size, names.length, 'two loops of one name');
  return names.sort();
}

/** Throws in the first round of each loop; knows which have had a good pass after that. */
function createFaults() {
  const failed = new Set<string>();
  const passed = new Set<string>();
  return {
    failed,
    passed,
    loops: {
      beforeRound: (loop: string) => {
        if (failed.has(loop)) return;
        failed.add(loop);
        throw new Error(`injected into ${loop}`);
      },
      afterPass: (loop: string) => void passed.add(loop),
    },
  };
}

async function serve(t: TestContext, port: number, status: number, body: string): Promise<Server> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return server;
}

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function kubeconfigFor(server: string): string {
  const path = join(temporaryDirectory(), 'kubeconfig');
  const config = {
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

const restartsOf = async (kubelet: Embedded, loop: string): Promise<string | undefined> =>
  (await kubelet.ask('/metrics'))
    .split('\n')
    .find((line) => line.startsWith(`kubelet_ts_loop_restarts_total{loop="${loop}"}`));

describe('background loops', () => {
  it('are all known by name, and each of them is tested', () => {
    const names = everyLoop();
    assert.ok(names.length > 20, names.join());
    for (const [name, file] of Object.entries(ELSEWHERE)) {
      assert.ok(names.includes(name), `${name} is no loop any more`);
      assert.ok(readFileSync(join(ROOT, file), 'utf8').includes(name), `${file} does not name ${name}`);
    }
  });

  it('go on after each of them has thrown once', async (t) => {
    const faults = createFaults();
    const { loops } = faults;
    const pods = await serve(t, 0, 200, '{"apiVersion":"v1","kind":"PodList","items":[]}');
    const api = await serve(t, 0, 503, '{"kind":"Status","code":503,"reason":"ServiceUnavailable"}');
    const cluster = [`--kubeconfig=${kubeconfigFor(urlOf(api))}`];
    const manifests = temporaryDirectory();
    await using standalone = await embed({ staticPodURL: urlOf(pods), staticPodPath: manifests }, [], { loops });
    await using watching = await embed({ rotateCertificates: true }, cluster, { loops });
    await using caching = await embed(
      { configMapAndSecretChangeDetectionStrategy: 'Cache', registerNode: false, shutdownGracePeriod: '1s' },
      cluster,
      { loops },
    );
    const { ports } = standalone;
    const taken = await Promise.all([ports.health, ports.server].map((port) => serve(t, port, 500, '')));
    await Promise.all([standalone, watching, caching].map(({ kubelet }) => kubelet.start()));

    const expected = everyLoop().filter((name) => !Object.hasOwn(ELSEWHERE, name));
    const missing = () => expected.filter((name) => !faults.passed.has(name));
    await until('every loop goes on', () => (missing().length === 0 ? true : undefined)).catch((error: unknown) => {
      throw new Error(`loops that have not passed: ${missing().join(', ')}`, { cause: error });
    });
    assert.deepEqual(
      expected.filter((name) => !faults.failed.has(name)),
      [],
    );

    for (const server of taken) server.close();
    await until('the ports are open', async () => await standalone.get('/healthz/loops').catch(() => undefined));
    assert.equal(await standalone.get('/healthz/loops'), 'ok');
    assert.equal(await watching.get('/healthz/loops'), 'ok');
    // Each port is tried again at its own pace.
    const restarts = () => restartsOf(standalone, 'file source').catch(() => undefined);
    assert.match(await until('the server answers', restarts), / 1$/);
    assert.ok(standalone.lines.includes('Loop failed, restarting it'));
    assert.ok(standalone.lines.includes('Loop recovered'));
  });

  it('fail health when one of them cannot be kept running, until it runs again', async () => {
    let isBroken = true;
    const beforeRound = (loop: string) => {
      if (isBroken && loop === 'log rotation') throw new Error('no space left');
    };
    await using place = await embed({}, [], { loops: { beforeRound } });
    await place.kubelet.start();
    const text = () => place.get('/healthz?verbose');
    await until('health fails', async () => ((await text()).includes('[-]loops failed') ? true : undefined));
    assert.ok(place.lines.filter((line) => line === 'Loop failed, restarting it').length >= 5);
    isBroken = false;
    await until('health is well again', async () => ((await text()).includes('[+]loops ok') ? true : undefined));
  });
});
