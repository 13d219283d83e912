import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { RuntimeService } from '../../src/wire/gen/cri-runtime-v1.ts';
import { createGrpcServer, unaryHandler } from '../../src/wire/grpc-server.ts';
import { type KubeletProcess, startKubelet } from './kubelet.ts';

/** A container runtime that can say who it is. */
async function startRuntime(path: string) {
  const version = { version: '0.1.0', runtimeName: 'stand-in', runtimeVersion: '1.2.3', runtimeApiVersion: 'v1' };
  const server = createGrpcServer([unaryHandler(RuntimeService.version, () => version)]);
  await server.listen(path);
  return server;
}

async function until(kubelet: KubeletProcess, path: string, status: number): Promise<string> {
  for (;;) {
    const answer = await kubelet.get(path);
    if (answer.status === status) return answer.body;
    await new Promise((next) => setTimeout(next, 20));
  }
}

describe('health', () => {
  it('follows the container runtime', async () => {
    await using kubelet = await startKubelet();
    await kubelet.up();
    const check = '/healthz/container-runtime';
    assert.match(
      await until(kubelet, check, 500),
      /^internal server error: container runtime at .*cri\.sock does not answer/,
    );
    assert.match(
      await until(kubelet, '/healthz', 500),
      /^\[\+\]ping ok\n\[\+\]log ok\n.*\[-\]container-runtime failed: reason withheld\n/s,
    );
    const runtime = await startRuntime(join(kubelet.directory, 'cri.sock'));
    assert.equal(await until(kubelet, check, 200), 'ok');
    await kubelet.waitForLog(
      /"Container runtime answers" endpoint="unix:.*" runtimeName="stand-in" runtimeVersion="1\.2\.3"/,
    );
    await runtime.close();
    await until(kubelet, check, 500);
  });

  it('leaves out the checks it is told to', async () => {
    await using kubelet = await startKubelet();
    await kubelet.up();
    const names = [...(await kubelet.get('/healthz?verbose')).body.matchAll(/^\[[+-]\]([\w-]+) /gm)].map(
      ([, name]) => name,
    );
    for (const name of ['ping', 'log', 'syncloop', 'container-runtime']) assert.ok(names.includes(name), name);
    const query = names.map((name) => `exclude=${name}`).join('&');
    assert.deepEqual(await kubelet.get(`/healthz?${query}`), { status: 200, body: 'ok' });
  });

  it('is served where the configuration says', async () => {
    await using kubelet = await startKubelet({ config: { healthzBindAddress: '127.0.0.2' }, flags: ['-v=2'] });
    await kubelet.waitForLog(/"Serving health checks" address="127\.0\.0\.2:/);
    await assert.rejects(kubelet.get('/healthz/ping'));
    const answer = await fetch(`http://127.0.0.2:${kubelet.healthzPort}/healthz/ping`);
    assert.equal(await answer.text(), 'ok');
  });

  it('can be turned off, and the kubelet lives on', async () => {
    await using kubelet = await startKubelet({ config: { healthzPort: 0 } });
    await kubelet.waitForLog(/does not answer/);
    await new Promise((next) => setTimeout(next, 300));
    kubelet.signal('SIGTERM');
    assert.equal((await kubelet.exited).code, 0);
  });

  it('waits for a port that another program holds', async () => {
    await using kubelet = await startKubelet();
    await kubelet.up();
    await using second = await startKubelet({ healthzPort: kubelet.healthzPort });
    await second.waitForLog(/"Failed to start healthz server" err="listen EADDRINUSE/);
    kubelet.signal('SIGTERM');
    await kubelet.exited;
    await second.up();
  });

  it('holds under 40 MB of its own when it is up', async () => {
    const sizes: number[] = [];
    for (let round = 0; round < 3; round++) {
      await using kubelet = await startKubelet();
      await kubelet.up();
      // How much of Node's file is mapped hangs on the page cache, and is let go after some seconds (host/program-pages.ts).
      sizes.push(Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${kubelet.pid}/status`, 'utf8'))?.[1]) / 1024);
    }
    // How soon it is up, and what it holds then, is measured by `make bench`; when garbage is collected depends on the machine.
    assert.ok(Math.min(...sizes) < 40, `${sizes.map(Math.round)} MB`);
  });
});

describe('a runtime that hangs', () => {
  it('makes the kubelet unhealthy within a second, not silent', async () => {
    await using kubelet = await startKubelet();
    const silent = createServer().listen(join(kubelet.directory, 'cri.sock'));
    await kubelet.up();
    const asked = performance.now();
    assert.equal((await kubelet.get('/healthz')).status, 500);
    assert.ok(performance.now() - asked < 60_000);
    silent.close();
  });
});
