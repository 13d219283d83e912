import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyDefaults, applyFileDefaults, defaultEvictionHard, flagEraDefaults } from './defaults.ts';

test('a written zero is replaced only if the API can not distinguish it from an absent value', () => {
  const config = applyDefaults({
    maxPods: 0,
    port: 0,
    nodeLeaseDurationSeconds: 0,
    syncFrequency: 0,
    cgroupDriver: '',
    containerLogMaxWorkers: 0,
    kubeAPIQPS: 0,
    healthzPort: 0,
    oomScoreAdj: 0,
    cpuCFSQuotaPeriod: 0,
    resolvConf: '',
    failSwapOn: false,
    crashLoopBackOff: { maxContainerRestartPeriod: 0 },
    authentication: { webhook: { enabled: false, cacheTTL: 0 } },
  });
  assert.equal(config.maxPods, 110);
  assert.equal(config.port, 10250);
  assert.equal(config.nodeLeaseDurationSeconds, 40);
  assert.equal(config.syncFrequency, 60_000);
  assert.equal(config.cgroupDriver, 'cgroupfs');
  assert.equal(config.containerLogMaxWorkers, 0);
  assert.equal(config.kubeAPIQPS, 0);
  assert.equal(config.healthzPort, 0);
  assert.equal(config.oomScoreAdj, 0);
  assert.equal(config.cpuCFSQuotaPeriod, 0);
  assert.equal(config.resolvConf, '');
  assert.equal(config.failSwapOn, false);
  assert.equal(config.crashLoopBackOff.maxContainerRestartPeriod, 0);
  assert.deepEqual(config.authentication.webhook, { enabled: false, cacheTTL: 120_000 });
});

test('an empty list or map is a choice, not an absence', () => {
  const config = applyFileDefaults({ enforceNodeAllocatable: [], evictionHard: {} });
  assert.deepEqual(config.enforceNodeAllocatable, []);
  assert.deepEqual(config.evictionHard, {});
  assert.deepEqual(applyDefaults({}).enforceNodeAllocatable, ['pods']);
});

test('the report frequency is the update frequency if only that is set', () => {
  assert.equal(applyDefaults({}).nodeStatusReportFrequency, 300_000);
  assert.equal(applyDefaults({ nodeStatusUpdateFrequency: 20_000 }).nodeStatusReportFrequency, 20_000);
  const both = applyDefaults({ nodeStatusUpdateFrequency: 20_000, nodeStatusReportFrequency: 60_000 });
  assert.equal(both.nodeStatusReportFrequency, 60_000);
  const zero = applyDefaults({ nodeStatusUpdateFrequency: 0 });
  assert.deepEqual([zero.nodeStatusUpdateFrequency, zero.nodeStatusReportFrequency], [10_000, 300_000]);
});

test('pulls are serial unless maxParallelImagePulls is more than one', () => {
  assert.equal(applyDefaults({}).serializeImagePulls, true);
  assert.equal(applyDefaults({ maxParallelImagePulls: 1 }).serializeImagePulls, true);
  assert.equal(applyDefaults({ maxParallelImagePulls: 2 }).serializeImagePulls, false);
  assert.equal(applyDefaults({ maxParallelImagePulls: 2, serializeImagePulls: true }).serializeImagePulls, true);
});

test('any negative limit of pids means none', () => {
  assert.equal(applyDefaults({ podPidsLimit: -7 }).podPidsLimit, -1);
  assert.equal(applyDefaults({ podPidsLimit: 0 }).podPidsLimit, 0);
});

test('hard eviction thresholds have defaults in a file only, merged if configured', () => {
  const own = { 'memory.available': '1Gi' };
  assert.deepEqual(applyDefaults({}).evictionHard, {});
  assert.deepEqual(applyFileDefaults({}).evictionHard, defaultEvictionHard);
  assert.deepEqual(applyFileDefaults({ evictionHard: own }).evictionHard, own);
  const merged = applyFileDefaults({ evictionHard: own, mergeDefaultEvictionSettings: true });
  assert.deepEqual(merged.evictionHard, { ...defaultEvictionHard, ...own });
});

test('two defaults depend on their feature gates', () => {
  const off = applyDefaults({}, { KubeletCrashLoopBackOffMax: false, KubeletEnsureSecretPulledImages: false });
  assert.equal(off.crashLoopBackOff.maxContainerRestartPeriod, undefined);
  assert.equal(off.imagePullCredentialsVerificationPolicy, '');
  const on = applyDefaults({});
  assert.equal(on.crashLoopBackOff.maxContainerRestartPeriod, 300_000);
  assert.equal(on.imagePullCredentialsVerificationPolicy, 'NeverVerifyPreloadedImages');
});

test('without a file the older, open defaults of the flags apply', () => {
  const config = applyDefaults(flagEraDefaults);
  assert.equal(config.authentication.anonymous.enabled, true);
  assert.equal(config.authentication.webhook.enabled, false);
  assert.equal(config.authentication.webhook.cacheTTL, 120_000);
  assert.equal(config.authorization.mode, 'AlwaysAllow');
  assert.equal(config.readOnlyPort, 10255);
});
