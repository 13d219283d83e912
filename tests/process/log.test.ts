import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { freePort, startKubelet, workingConfig } from './kubelet.ts';

const KLOG = /^[IWE]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ [\w-]+\.ts:\d+\] "(?:[^"\\]|\\.)*"/;

/** Warnings that name themselves: each unknown field of the file gets one. */
const unknownFields = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_none, i) => [`unknownField${i}x`, i]));
const numbersIn = (log: string) => new Set([...log.matchAll(/unknownField(\d+)x/g)].map((match) => Number(match[1])));

/** Takes what is there, then pauses: a pause for each small chunk would be a reader who stops for seconds. */
async function readSlowly(stream: Readable | null): Promise<string> {
  let text = '';
  for await (const chunk of stream ?? []) {
    text += chunk;
    for (let more = stream?.read(); more; more = stream?.read()) text += more;
    await new Promise((next) => setTimeout(next, 5));
  }
  return text;
}

describe('the log', () => {
  it('has klog lines that name the process and the source line of this repository', async () => {
    await using kubelet = await startKubelet({ flags: ['-v=2'] });
    await kubelet.up();
    await kubelet.waitForLog(/Serving health checks/);
    for (const line of kubelet.log().trimEnd().split('\n')) {
      assert.match(line, KLOG);
      assert.ok(line.includes(` ${kubelet.pid} `), line);
    }
    assert.match(kubelet.log(), / health\.ts:\d+\] "Serving health checks" address="127\.0\.0\.1:\d+"/);
    assert.equal(kubelet.stdout(), '');
  });

  it('is as chatty as -v and --vmodule ask', async () => {
    await using quiet = await startKubelet();
    await using loud = await startKubelet({ flags: ['--vmodule=heal*=2'] });
    await Promise.all([quiet.up(), loud.up()]);
    await loud.waitForLog(/Serving health checks/);
    assert.doesNotMatch(quiet.log(), /Serving health checks/);
  });

  it('is JSON when the configuration says so', async () => {
    await using kubelet = await startKubelet({ config: { logging: { format: 'json', verbosity: 2 } } });
    await kubelet.up();
    await kubelet.waitForLog(/Serving health checks/);
    const lines = kubelet
      .log()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const serving = lines.find(({ msg }) => msg === 'Serving health checks');
    assert.equal(serving.v, 2);
    assert.match(serving.caller, /^health\/health\.ts:\d+$/);
    assert.ok(Math.abs(serving.ts - Date.now()) < 60_000);
  });

  it('splits the streams, with info lines held back until a flush', async () => {
    const options = { splitStream: true, infoBufferSize: '64Ki' };
    await using kubelet = await startKubelet({
      config: {
        featureGates: { LoggingAlphaOptions: true },
        logging: { format: 'text', verbosity: 2, flushFrequency: '1h', options: { text: options } },
      },
    });
    await kubelet.up();
    assert.equal(kubelet.stdout(), '');
    kubelet.signal('SIGTERM');
    await kubelet.exited;
    assert.match(kubelet.stdout(), /^I.*Serving health checks.*"Kubelet is stopping" reason="SIGTERM"\n$/s);
    assert.doesNotMatch(kubelet.log(), /^I/m);
  });

  it('flushes held-back lines at the configured interval', async () => {
    const options = { splitStream: true, infoBufferSize: '64Ki' };
    await using kubelet = await startKubelet({
      config: {
        featureGates: { LoggingAlphaOptions: true },
        logging: { format: 'text', verbosity: 2, flushFrequency: '100ms', options: { text: options } },
      },
    });
    await kubelet.up();
    while (!kubelet.stdout().includes('Serving health checks')) await new Promise((next) => setTimeout(next, 20));
  });

  it('loses no line at exit, although the reader is slow', async () => {
    const count = 5000;
    await using kubelet = await startKubelet({ config: unknownFields(count), readLog: false });
    await kubelet.up();
    kubelet.signal('SIGTERM');
    const log = await readSlowly(kubelet.child.stderr);
    assert.equal((await kubelet.exited).code, 0);
    assert.equal(numbersIn(log).size, count);
    assert.match(log, /"Kubelet is stopping" reason="SIGTERM"\n$/);
  });

  it('does not stop the kubelet when no one reads it, nor keep it from ending', async () => {
    await using kubelet = await startKubelet({ config: unknownFields(5000), readLog: false });
    await kubelet.up();
    assert.equal((await kubelet.get('/healthz/ping')).status, 200);
    const asked = performance.now();
    kubelet.signal('SIGTERM');
    assert.equal((await kubelet.exited).code, 0);
    assert.ok(performance.now() - asked < 60_000, `took ${performance.now() - asked} ms`);
  });

  it('loses no problem of a refused configuration', async () => {
    const healthzPort = await freePort();
    const fields = { ...workingConfig('/tmp', healthzPort, await freePort()), ...unknownFields(3000) };
    await using kubelet = await startKubelet({
      configText: JSON.stringify(fields),
      flags: ['--strict-config'],
      readLog: false,
    });
    const log = await readSlowly(kubelet.child.stderr);
    assert.equal((await kubelet.exited).code, 1);
    assert.equal(numbersIn(log).size, 3000);
  });
});
