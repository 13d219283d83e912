/** Debian's Prometheus scrapes every endpoint of our kubelet. `make scraped` does it for five minutes. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createSupplies } from '../lab/supplies.ts';
import { until } from './pod-support.ts';
import { type StatsNode, statsNode, textOf } from './stats-support.ts';

const LONG = process.env['LONG'] === '1';
const SCRAPE_FOR_MS = LONG ? 300_000 : 5000;
const SCRAPE_EVERY = LONG ? '10s' : '2s';
const PATHS = ['/metrics', '/metrics/cadvisor', '/metrics/resource', '/metrics/probes'] as const;
const LISTEN = '127.0.0.1:9090';

interface Target {
  readonly scrapePool: string;
  readonly health: string;
  readonly lastError: string;
}

async function startPrometheus({ place: { node } }: StatsNode): Promise<{ readonly logFile: string }> {
  const { prometheus, promtool } = await createSupplies(process.env).ensure('prometheus', 'promtool');
  const directory = join(node.world.directory, 'prometheus');
  await mkdir(directory, { recursive: true });
  const config = join(directory, 'prometheus.json');
  const jobs = PATHS.flatMap((path) => [
    { job_name: path, scheme: 'https', tls_config: { insecure_skip_verify: true }, targets: '127.0.0.1:10250' },
    { job_name: `read-only ${path}`, scheme: 'http', targets: '127.0.0.1:10255' },
  ]);
  const scrape_configs = jobs.map(({ targets, ...job }) => ({
    ...job,
    metrics_path: job.job_name.replace('read-only ', ''),
    static_configs: [{ targets: [targets] }],
  }));
  // JSON is YAML.
  await writeFile(
    config,
    JSON.stringify({ global: { scrape_interval: SCRAPE_EVERY, scrape_timeout: SCRAPE_EVERY }, scrape_configs }),
  );
  const checked = await node.exec([promtool, 'check', 'config', config]);
  assert.equal(checked.code, 0, checked.stdout + checked.stderr);
  return await node.start({
    name: 'prometheus',
    argv: [
      prometheus,
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=${LISTEN}`,
    ],
  });
}

async function ask<T>({ place }: StatsNode, path: string): Promise<T> {
  const answer = await place.node.gate.request(`http://${LISTEN}${path}`);
  assert.equal(answer.status, 200, path);
  return (JSON.parse(answer.text()) as { readonly data: T }).data;
}

const query = async (node: StatsNode, text: string) =>
  (
    await ask<{
      readonly result: readonly {
        readonly metric: Readonly<Record<string, string>>;
        readonly value: readonly [number, string];
      }[];
    }>(node, `/api/v1/query?query=${encodeURIComponent(text)}`)
  ).result;

const targets = async (node: StatsNode) =>
  (await ask<{ readonly activeTargets: readonly Target[] }>(node, '/api/v1/targets')).activeTargets;

/** A busy machine may be late; nothing else may go wrong. */
function failuresIn(found: readonly Target[]): readonly string[] {
  return found.map(({ scrapePool, lastError }) => `${scrapePool}: ${lastError}`).filter((text) => !LATE.test(text));
}
const LATE = /: $|context deadline exceeded|Client.Timeout/;

async function scrapesEverything(node: StatsNode): Promise<void> {
  const { logFile } = await startPrometheus(node);
  const from = performance.now();
  await until(
    'every endpoint was scraped three times, and for long enough',
    async () => {
      // It has not opened its port at first.
      assert.deepEqual(failuresIn(await targets(node).catch(() => [])), []);
      if (performance.now() - from < SCRAPE_FOR_MS) return undefined;
      const often = await query(node, 'sum_over_time(up[1h]) >= 3');
      return often.length === 2 * PATHS.length ? true : undefined;
    },
    SCRAPE_FOR_MS + 120_000,
  );
  const log = await readFile(logFile, 'utf8');
  const complaints = log
    .split('\n')
    .filter((line) => /level=(?:warn|error)|append failed|out of order|duplicate/i.test(line));
  assert.deepEqual(complaints, []);
  for (const text of [
    'max_over_time(container_cpu_usage_seconds_total{container="busy"}[5m])',
    'container_memory_working_set_bytes{container="idle"}',
    'node_cpu_usage_seconds_total',
    'kubelet_running_pods',
  ]) {
    const found = await query(node, text);
    assert.ok(
      found.length > 0 && found.every(({ value }) => Number(value[1]) > 0),
      `${text}: ${JSON.stringify(found)}`,
    );
  }
}

/** Exit code 1: it can't be parsed. 3: it can, and its names are not as Prometheus recommends; those are the reference's. */
async function isParsed(node: StatsNode): Promise<void> {
  const { promtool } = await createSupplies(process.env).ensure('promtool');
  for (const path of PATHS) {
    const { code, stderr } = await node.place.node.exec([promtool, 'check', 'metrics'], {
      input: await textOf(node, path),
    });
    assert.ok(code === 0 || code === 3, `${path}: exit code ${code}: ${stderr.slice(0, 500)}`);
  }
}

test('Prometheus', async (t: TestContext) => {
  const node = await statsNode(t, 'ours');
  await t.test('parses every page', () => isParsed(node));
  await t.test('scrapes every page', () => scrapesEverything(node));
});
