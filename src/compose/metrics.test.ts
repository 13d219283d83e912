/** Every metric that is built has the type, the labels and the buckets of the reference's. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { createSystemClock } from '../base/clock.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import type { Config } from '../config/config.ts';
import { resolveFeatures } from '../config/features/features.ts';
import { createHost } from '../host/host.ts';
import { createFakeReviews, createTestPki, startTestServer } from '../server/testing.ts';
import { createEventLoopLag } from '../telemetry/event-loop-lag.ts';
import { formatNumber } from '../telemetry/metrics.ts';
import type { PartDeps } from './compose.ts';
import { composeMetrics } from './metrics.ts';

interface Recorded {
  readonly type: string;
  readonly labels: string;
  readonly buckets: string;
}

const file = join(import.meta.dirname, '../telemetry/testdata/recorded-metrics.tsv');
const recorded = new Map<string, Recorded>(
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'))
    .map(([name = '', type = '', labels = '', buckets = '']) => [name, { type, labels, buckets }]),
);

/** What the reference shows and we do not, and why. */
const NOT_SHOWN: Readonly<Record<string, RegExp>> = {
  'of the library for API servers, with nothing to count in a kubelet':
    /^(aggregator_discovery_|apiserver_(audit|envelope|storage|validation|webhooks)_|cardinality_enforcement_)/,
  'of queues that do not exist: a worker here has a slot and a wake-up bit': /^workqueue_/,
  'of the transports of its client': /^rest_client_(transport|exec_plugin)_/,
  'of parts that are not built: CPU, memory, topology and devices': /^(kubelet_(cpu|memory|topology)_manager_|dra_)/,
  'of parts that are not built: the API of pods': /^kubelet_pod_watch_events/,
  'of statistics, which add them as they are asked for': /^kubelet_(volume_stats_|container_log_filesystem)/,
  'of caches of pull records: here all are in memory': /^kubelet_imagemanager_(inmemory|ondisk)_/,
};

/** The reference has them too, but had nothing to count while it was recorded, or has them on a page that was not. */
const NOT_RECORDED = new Set([
  'kubernetes_healthcheck',
  'kubernetes_healthchecks_total',
  'apiserver_delegated_authn_request_duration_seconds',
  'apiserver_delegated_authn_request_total',
  'kubelet_pod_deferred_accepted_resizes_total',
  'kubelet_pod_infeasible_resizes_total',
  'kubelet_pod_pending_resizes',
]);

function build() {
  const { features } = resolveFeatures({});
  const config = {
    kubelet: { showHiddenMetricsForVersion: '' },
    features,
  } as unknown as Config;
  const clock = createSystemClock();
  const supervisor = createTestSupervisor(clock);
  const host = createHost();
  const deps = { clock, log: createSilentLogger(), supervisor, nodeName: 'labnode', host } as unknown as PartDeps;
  const pods = { views: () => [], desired: () => undefined };
  const tools = { pods: () => pods, mirrorPods: () => 0, eventLoopLag: createEventLoopLag() };
  const meters = composeMetrics(config, deps, tools as unknown as Parameters<typeof composeMetrics>[2]);
  return meters;
}

describe('metrics and the reference', async () => {
  const meters = build();
  const pki = await createTestPki();
  const server = await startTestServer(pki, [], createFakeReviews());
  after(async () => {
    await server[Symbol.asyncDispose]();
    pki.remove();
  });
  const names = new Set<string>();
  const families = [meters.metrics, meters.probeMetrics, meters.healthMetrics, server.metrics]
    .flatMap((metrics) => metrics.families())
    .filter(({ name }) => !names.has(name) && names.add(name));

  for (const { name, type, labels, buckets } of families) {
    if (name.startsWith('kubelet_ts_') || NOT_RECORDED.has(name)) continue;
    it(name, () => {
      const theirs = recorded.get(name);
      assert.ok(theirs !== undefined, 'the reference has no such metric: its name must begin with kubelet_ts_');
      assert.equal(type, theirs.type);
      assert.equal(labels.join(','), theirs.labels);
      if (theirs.buckets !== '')
        assert.equal([...buckets, Number.POSITIVE_INFINITY].map(formatNumber).join(','), theirs.buckets);
    });
  }

  it('are all there but those for which there is a reason', () => {
    const reasons = Object.entries(NOT_SHOWN);
    const reasonFor = (name: string) => reasons.find(([, names]) => names.test(name))?.[0];
    assert.deepEqual(
      [...recorded.keys()].filter((name) => !names.has(name) && reasonFor(name) === undefined),
      [],
    );
    assert.deepEqual(
      [...names].filter((name) => reasonFor(name) !== undefined),
      [],
      'a reason for what is there',
    );
    const unused = reasons.filter(([, names]) => ![...recorded.keys()].some((name) => names.test(name)));
    assert.deepEqual(unused, [], 'a reason for nothing');
  });

  it('are all there that dashboards of nodes begin with', () => {
    for (const name of [
      'kubelet_running_pods',
      'kubelet_running_containers',
      'kubelet_runtime_operations_total',
      'kubelet_node_name',
      'process_cpu_seconds_total',
      'rest_client_requests_total',
      'kubernetes_build_info',
      'kubernetes_feature_enabled',
      'prober_probe_total',
      'kubelet_http_requests_total',
    ])
      assert.ok(names.has(name), name);
  });

  it('are shown as soon as there is something to show', () => {
    const text = meters.metrics.render();
    assert.match(text, /^kubelet_node_name\{node="labnode"\} 1$/m);
    assert.match(
      text,
      /^kubernetes_build_info\{build_date="1970-01-01T00:00:00Z",compiler="kubelet-ts [^"]+",git_commit="",git_tree_state="",git_version="v1\.36\.4",go_version="",major="1",minor="36",platform=""\} 1$/m,
    );
    assert.match(text, /^kubernetes_feature_enabled\{name="KubeletFineGrainedAuthz",stage=""\} 1$/m);
    // On by default: not built; of another component.
    assert.match(text, /^kubernetes_feature_enabled\{name="DynamicResourceAllocation",stage=""\} 0$/m);
    assert.match(text, /^kubernetes_feature_enabled\{name="SchedulerQueueingHints",stage=""\} 0$/m);
    assert.match(text, /^process_resident_memory_bytes [\d.e+]+$/m);
  });
});
