import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { type KubeletProcess, startKubelet, temporaryDirectory, workingConfig } from './kubelet.ts';

/** Within three seconds, of which a busy machine makes more; what does not stop by itself stays for ever. */
const SOON_MS = 60_000;

async function stopTime(kubelet: KubeletProcess, name: NodeJS.Signals): Promise<number> {
  const asked = performance.now();
  kubelet.signal(name);
  const { code, signal } = await kubelet.exited;
  assert.deepEqual([code, signal], [0, null], kubelet.log());
  return performance.now() - asked;
}

function rewrite(kubelet: KubeletProcess, fields: Readonly<Record<string, unknown>> | string): void {
  const text =
    typeof fields === 'string'
      ? fields
      : JSON.stringify({ ...workingConfig(kubelet.directory, kubelet.healthzPort, kubelet.serverPort), ...fields });
  writeFileSync(kubelet.configFile, text);
}

describe('signals', () => {
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    it(`${name} stops soon, in order, with exit code 0`, async () => {
      await using kubelet = await startKubelet();
      await kubelet.up();
      assert.ok((await stopTime(kubelet, name)) < SOON_MS);
      assert.match(kubelet.log(), new RegExp(`"Kubelet is stopping" reason="${name}"\\n$`));
    });
  }

  /** A part that never stops: the health server, whose `close` is taken away. */
  const stuck = `echo "require('node:http').Server.prototype.close = () => undefined" > "$DIR/stuck.cjs"
    export NODE_OPTIONS="--require $DIR/stuck.cjs"`;

  it('SIGTERM ends soon although a part does not stop, and names it', async () => {
    await using kubelet = await startKubelet({ prepare: stuck });
    await kubelet.up();
    assert.ok((await stopTime(kubelet, 'SIGTERM')) < SOON_MS);
    assert.match(kubelet.log(), /W.*"Parts did not stop within the deadline" parts=\["health server",/);
  });

  /** The deadline of the first signal is far away, so that a slow test comes before it too. */
  const patient = `${stuck}
    echo "const real = setTimeout; globalThis.setTimeout = (then, ms, ...more) => real(then, ms === 800 ? 600_000 : ms, ...more)" >> "$DIR/stuck.cjs"`;

  it('a second signal ends at once', async () => {
    await using kubelet = await startKubelet({ prepare: patient });
    await kubelet.up();
    kubelet.signal('SIGTERM');
    await kubelet.waitForLog(/"Kubelet is stopping" reason="SIGTERM"/);
    kubelet.signal('SIGINT');
    assert.equal((await kubelet.exited).code, 1);
    // The last line: the deadline of the first signal did not end it.
    assert.match(kubelet.log(), /"Second signal: exiting at once" signal="SIGINT"\n$/);
  });

  it('SIGTERM stops soon while clients hold connections and the runtime hangs', async () => {
    await using kubelet = await startKubelet();
    // A socket that takes connections and never says a word.
    const silent = createServer().listen(join(kubelet.directory, 'cri.sock'));
    await kubelet.up();
    const hanging = kubelet.get('/healthz').catch(() => undefined);
    assert.ok((await stopTime(kubelet, 'SIGTERM')) < SOON_MS);
    await hanging;
    silent.close();
  });

  it('SIGTERM stops a kubelet that waits for its lock file', async () => {
    const lock = join(temporaryDirectory(), 'lock');
    await using holder = await startKubelet({ flags: ['--lock-file', lock] });
    await holder.up();
    await using kubelet = await startKubelet({ flags: ['--lock-file', lock] });
    await kubelet.waitForLog(/Waiting for the lock file/);
    assert.ok((await stopTime(kubelet, 'SIGTERM')) < SOON_MS);
    await holder.up();
    rmSync(dirname(lock), { recursive: true });
  });

  it('SIGHUP takes over what it can and says what needs a restart', async () => {
    await using kubelet = await startKubelet({ config: { maxPods: 10 } });
    await kubelet.up();
    rewrite(kubelet, { maxPods: 20, logging: { verbosity: 5 } });
    kubelet.signal('SIGHUP');
    await kubelet.waitForLog(/"Configuration reloaded" changes=2 needRestart=1\n/);
    const log = kubelet.log();
    assert.match(log, /"Configuration changed" field="maxPods" before=10 after=20 takesEffect="at the next start"/);
    assert.match(log, /"Configuration changed" field="logging.verbosity" before=0 after=5 takesEffect="now"/);
    const { maxPods, logging } = await kubelet.configz();
    assert.deepEqual([maxPods, (logging as { verbosity: number }).verbosity], [10, 5]);
  });

  it('a changed file is read without a signal, and a refused one changes nothing', async () => {
    await using kubelet = await startKubelet({ config: { maxPods: 10 } });
    await kubelet.up();
    const { pid } = kubelet;
    rewrite(kubelet, { maxPods: 10, logging: { verbosity: 5 } });
    await kubelet.waitForLog(/"Configuration reloaded" changes=1 needRestart=0\n/);
    rewrite(kubelet, { maxPods: -1, logging: { verbosity: 0 } });
    await kubelet.waitForLog(/"Failed to reload the configuration, the old one stays in use"/);
    await kubelet.waitForLog(/"Event occurred".* reason="KubeletConfigRefused"/);
    const { body } = await kubelet.ask('/configz?origins=true');
    const { kubeletconfig, origins } = JSON.parse(body);
    assert.deepEqual([kubeletconfig.maxPods, kubeletconfig.logging.verbosity, kubelet.pid], [10, 5, pid]);
    assert.match(origins['logging.verbosity'], /kubelet\.yaml:1$/);
    assert.equal(origins.syncFrequency, 'default');
  });

  it('SIGHUP changes how much is logged at once', async () => {
    await using kubelet = await startKubelet();
    await kubelet.up();
    await kubelet.get('/healthz');
    assert.doesNotMatch(kubelet.log(), /Health check failed/);
    rewrite(kubelet, { logging: { verbosity: 2 } });
    kubelet.signal('SIGHUP');
    await kubelet.waitForLog(/Configuration reloaded/);
    await kubelet.get('/healthz');
    await kubelet.waitForLog(/"Health check failed" check="container-runtime"/);
  });

  for (const [what, fields, reason] of [
    ['garbage', '\x00{[', /kubelet\.yaml/],
    ['a value against a rule', { maxPods: -1 }, /maxPods/],
  ] as const) {
    it(`SIGHUP with ${what} keeps the configuration and says why`, async () => {
      await using kubelet = await startKubelet({ config: { maxPods: 10 } });
      await kubelet.up();
      rewrite(kubelet, fields);
      kubelet.signal('SIGHUP');
      await kubelet.waitForLog(/"Failed to reload the configuration, the old one stays in use".*\n/s);
      assert.match(kubelet.log(), reason);
      assert.equal((await kubelet.configz())['maxPods'], 10);
      assert.equal((await kubelet.get('/healthz/ping')).status, 200);
    });
  }
});

describe('an error that no one caught', () => {
  for (const [what, code] of [
    ['thrown', "throw new Error('boom')"],
    ['rejected', "Promise.reject(new Error('boom'))"],
  ] as const) {
    it(`and was ${what} is logged in full, and the process ends in order with code 1`, async () => {
      const prepare = `echo "process.once('SIGUSR2', () => { ${code} })" > "$DIR/boom.cjs"
        export NODE_OPTIONS="--require $DIR/boom.cjs"`;
      await using kubelet = await startKubelet({ prepare });
      await kubelet.up();
      kubelet.signal('SIGUSR2');
      assert.equal((await kubelet.exited).code, 1);
      assert.match(kubelet.log(), /E.*"Unexpected error" err="boom" stack=<\n\tError: boom\n\t +at .*boom\.cjs/);
      assert.match(kubelet.log(), /"Kubelet is stopping" reason="an unexpected error"\n$/);
    });
  }
});
