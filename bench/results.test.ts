import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeResults, readMachine, writeResults } from './results.ts';

test('JSON that can be read again, and a picture beside it', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-ts-bench-'));
  t.after(() => rm(directory, { recursive: true }));
  const results = makeResults(
    {
      date: '2026-03-01T10:00:00.000Z',
      seconds: 12,
      arguments: {
        only: [],
        rounds: 1,
        short: true,
        runtime: 'containerd-2.4',
        kubelet: undefined,
        results: undefined,
        help: false,
      },
      machine: readMachine(),
      versions: { reference: 'Kubernetes v1.36.4' },
    },
    [
      {
        name: 'start',
        figures: { healthy: { text: 'exec to healthy', unit: 'ms' } },
        outcomes: {
          ours: [{ kind: 'values', values: { healthy: 100 } }],
          reference: [{ kind: 'failed', message: 'it did not start' }],
          floor: [],
        },
      },
    ],
  );
  const { json, svg } = await writeResults(results, join(directory, 'results'));
  assert.equal(json, join(directory, 'results', '2026-03-01T10-00-00Z.json'));
  assert.deepEqual(JSON.parse(await readFile(json, 'utf8')), JSON.parse(JSON.stringify(results)));
  assert.deepEqual(results.failures, ['start, reference, round 1: it did not start']);
  const picture = await readFile(svg, 'utf8');
  assert.match(picture, /beside Kubernetes v1\.36\.4/);
  assert.match(picture, /short form: no figures to compare/);
});

test('the machine is described', () => {
  const machine = readMachine();
  assert.ok(machine.cpus >= 1 && machine.memoryGb >= 1 && machine.kernel !== '');
});
