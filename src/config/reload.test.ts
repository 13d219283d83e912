import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { createSilentLogger, type Logger, type LogValues } from '../base/logger.ts';
import { type Config, type ConfigOutcome, readConfig, renderOrigins } from './config.ts';
import { isLiveField } from './live.ts';
import { createReload } from './reload.ts';

function read(fields: Readonly<Record<string, unknown>>): ConfigOutcome {
  const head = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
  const open = {
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
  };
  return readConfig(['--config=/kubelet.json'], {
    readTextFile: () => JSON.stringify({ ...head, ...open, ...fields }),
    listDir: () => [],
    workingDirectory: '/',
    terminalWidth: () => 80,
    build: { nodeVersion: 'v0', platform: 'linux/test' },
    machine: () => ({ onlineCpus: [0, 1], numaNodes: [0], memoryBytes: 2n ** 32n, cgroupVersion: 2 }),
  });
}

/** The same numbers each time: a failure can be repeated. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

function ready(fields: Readonly<Record<string, unknown>>): Config {
  const outcome = read(fields);
  if (outcome.kind !== 'ready') throw new Error(JSON.stringify(outcome));
  return outcome.config;
}

function setUp(start: Readonly<Record<string, unknown>>) {
  const lines: { readonly message: string; readonly values: LogValues | undefined }[] = [];
  const note = (message: string, values?: LogValues) => void lines.push({ message, values });
  const log: Logger = { ...createSilentLogger(), info: note, warn: note, error: note };
  const applied: Config[] = [];
  let next = read(start);
  const reload = createReload(ready(start), { log, read: () => next, apply: (config) => void applied.push(config) });
  return {
    lines,
    applied,
    reload: (fields: Readonly<Record<string, unknown>>) => {
      next = read(fields);
      reload();
    },
  };
}

describe('reload', () => {
  it('applies live fields and reports those that need a restart', () => {
    const { lines, applied, reload } = setUp({ maxPods: 10 });
    reload({ maxPods: 20, logging: { verbosity: 4 } });
    const running = applied.at(-1)?.kubelet;
    assert.deepEqual([running?.logging.verbosity, running?.maxPods], [4, 10]);
    assert.deepEqual(lines.at(-1), { message: 'Configuration reloaded', values: { changes: 2, needRestart: 1 } });
    const changes = lines
      .filter(({ message }) => message === 'Configuration changed')
      .map(({ values }) => values?.['field']);
    assert.deepEqual(changes.sort(), ['logging.verbosity', 'maxPods']);
  });

  it('compares with the running configuration, so that a pending change is reported again and a reverted one is not', () => {
    const { lines, reload } = setUp({ maxPods: 10 });
    reload({ maxPods: 20 });
    reload({ maxPods: 20 });
    assert.deepEqual(lines.at(-1)?.values, { changes: 1, needRestart: 1 });
    reload({ maxPods: 10 });
    assert.deepEqual(lines.at(-1)?.values, { changes: 0, needRestart: 0 });
  });

  it('keeps the configuration if the new one is invalid, and logs why', () => {
    const { lines, applied, reload } = setUp({ maxPods: 10 });
    reload({ maxPods: -1 });
    assert.equal(applied.length, 0);
    assert.equal(lines.at(-1)?.message, 'Failed to reload the configuration, the old one stays in use');
    assert.match(String(lines.at(-1)?.values?.['problems']), /maxPods/);
    reload({ maxPods: 10, logging: { verbosity: 1 } });
    assert.equal(applied.at(-1)?.kubelet.logging.verbosity, 1);
  });

  it('has the same effect as a restart for live fields, and none for the others, whatever changes', () => {
    const random = randomFrom(20);
    const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
    const fields = () => ({
      maxPods: pick([10, 20]),
      syncFrequency: pick(['1m', '2m']),
      evictionHard: pick([{ 'memory.available': '1Gi' }, {}]),
      logging: {
        verbosity: pick([0, 3, 5]),
        flushFrequency: pick(['5s', '7s']),
        vmodule: pick([[], [{ filePattern: 'a', verbosity: 1 }], [{ filePattern: 'b*', verbosity: 9 }]]),
      },
    });
    for (let round = 0; round < 50; round += 1) {
      const [before, after] = [fields(), fields()];
      const { applied, reload } = setUp(before);
      reload(after);
      const [running, started, restarted] = [applied.at(-1), ready(before), ready(after)];
      assert.ok(running);
      const { verbosity, vmodule } = restarted.kubelet.logging;
      const expected = { ...started.kubelet, logging: { ...started.kubelet.logging, verbosity, vmodule } };
      assert.deepEqual(running.kubelet, expected);
    }
  });

  it('reports a refused configuration', () => {
    const refused: string[] = [];
    const deps = { log: createSilentLogger(), apply: () => assert.fail('nothing is applied') };
    const next = read({ maxPods: -1, logging: { verbosity: 5 } });
    createReload(ready({}), { ...deps, read: () => next, onRefused: (problems) => void refused.push(...problems) })();
    assert.match(refused.join(), /maxPods/);
  });
});

test('where a value came from is shown for each field, after a reload as well', () => {
  const { applied, reload } = setUp({ maxPods: 10 });
  reload({ maxPods: 20, port: 1, logging: { verbosity: 4 } });
  const origins = renderOrigins(applied[0] as Config);
  assert.equal(origins['maxPods'], '/kubelet.json:1');
  assert.equal(origins['logging.verbosity'], '/kubelet.json:1');
  assert.deepEqual([origins['port'], origins['syncFrequency']], ['default', 'default']);
  assert.deepEqual(
    [isLiveField('logging.vmodule[0].verbosity'), isLiveField('logging'), isLiveField('maxPods')],
    [true, false, false],
  );
});
