import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Kind } from '../../src/config/schema/kinds.ts';
import { kubeletConfiguration } from '../../src/config/schema/kubelet-configuration.ts';
import { createSelfSigned } from '../../src/server/tls/self-signed.ts';
import { CGROUP_V2, startKubelet, temporaryDirectory } from './kubelet.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Configurations that no default has, written as /configz shows them. Several, since some fields exclude each other; what the test
 * machine itself needs (health port, pod logs, runtime endpoint) is added by the harness and differs from the defaults too.
 */
const everythingWith = (pair: string): Fields => ({
  staticPodPath: '/etc/manifests',
  syncFrequency: '1m1s',
  fileCheckFrequency: '21s',
  httpCheckFrequency: '22s',
  staticPodURL: 'http://127.0.0.1:1/pods',
  staticPodURLHeader: { 'X-One': ['a', 'b'] },
  address: '127.0.0.3',
  port: 11250,
  readOnlyPort: 11255,
  tlsCertFile: join(pair, 'tls.crt'),
  tlsPrivateKeyFile: join(pair, 'tls.key'),
  tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'],
  tlsCurvePreferences: [29],
  tlsMinVersion: 'VersionTLS12',
  authentication: {
    x509: { clientCAFile: join(pair, 'tls.crt') },
    webhook: { enabled: false, cacheTTL: '2m1s' },
    anonymous: { enabled: true },
  },
  authorization: { mode: 'AlwaysAllow', webhook: { cacheAuthorizedTTL: '5m1s', cacheUnauthorizedTTL: '31s' } },
  registryPullQPS: 6,
  registryBurst: 11,
  imagePullCredentialsVerificationPolicy: 'NeverVerifyAllowlistedImages',
  preloadedImagesVerificationAllowlist: ['registry.example/team/*'],
  eventRecordQPS: 51,
  eventBurst: 101,
  enableContentionProfiling: true,
  oomScoreAdj: 7,
  clusterDomain: 'cluster.example',
  clusterDNS: ['10.96.0.10', '10.96.0.11'],
  streamingConnectionIdleTimeout: '4h1m0s',
  nodeStatusUpdateFrequency: '11s',
  nodeStatusReportFrequency: '5m1s',
  nodeLeaseDurationSeconds: 41,
  imageMinimumGCAge: '2m1s',
  imageMaximumGCAge: '100h0m0s',
  imageGCHighThresholdPercent: 86,
  imageGCLowThresholdPercent: 81,
  volumeStatsAggPeriod: '1m1s',
  cgroupRoot: '/',
  cgroupDriver: 'systemd',
  cpuManagerPolicy: 'static',
  cpuManagerPolicyOptions: { 'full-pcpus-only': 'true' },
  cpuManagerReconcilePeriod: '11s',
  singleProcessOOMKill: true,
  memoryManagerPolicy: 'Static',
  reservedMemory: [{ numaNode: 0, limits: { memory: '300Mi' } }],
  systemReserved: { cpu: '100m', memory: '100Mi' },
  kubeReserved: { cpu: '100m', memory: '100Mi' },
  topologyManagerPolicy: 'best-effort',
  topologyManagerScope: 'pod',
  topologyManagerPolicyOptions: { 'prefer-closest-numa-nodes': 'true' },
  qosReserved: { memory: '50%' },
  runtimeRequestTimeout: '2m1s',
  hairpinMode: 'hairpin-veth',
  maxPods: 111,
  podCIDR: '10.1.0.0/24',
  podPidsLimit: 1000,
  resolvConf: '/etc/other-resolv.conf',
  cpuCFSQuotaPeriod: '50ms',
  nodeStatusMaxImages: 51,
  maxOpenFiles: 10_001,
  contentType: 'application/json',
  kubeAPIQPS: 52,
  kubeAPIBurst: 102,
  serializeImagePulls: false,
  maxParallelImagePulls: 3,
  evictionHard: { 'memory.available': '100Mi' },
  evictionSoft: { 'memory.available': '200Mi' },
  evictionSoftGracePeriod: { 'memory.available': '1m30s' },
  evictionPressureTransitionPeriod: '5m1s',
  evictionMaxPodGracePeriod: 60,
  evictionMinimumReclaim: { 'memory.available': '10Mi' },
  podsPerCore: 12,
  protectKernelDefaults: true,
  iptablesMasqueradeBit: 13,
  iptablesDropBit: 16,
  featureGates: {
    LoggingAlphaOptions: true,
    CustomCPUCFSQuotaPeriod: true,
    QOSReserved: true,
    KubeletCrashLoopBackOffMax: true,
    MemoryQoS: true,
  },
  memorySwap: { swapBehavior: 'LimitedSwap' },
  containerLogMaxSize: '11Mi',
  containerLogMaxFiles: 6,
  containerLogMaxWorkers: 2,
  containerLogMonitorInterval: '11s',
  configMapAndSecretChangeDetectionStrategy: 'Cache',
  showHiddenMetricsForVersion: '1.35',
  allowedUnsafeSysctls: ['net.core.somaxconn'],
  volumePluginDir: '/opt/plugins/',
  providerID: 'lab://node-1',
  kernelMemcgNotification: true,
  logging: {
    format: 'text',
    flushFrequency: '6s',
    verbosity: 1,
    vmodule: [{ filePattern: 'worker*', verbosity: 4 }],
    options: {
      text: { splitStream: true, infoBufferSize: '1Ki' },
      json: { splitStream: true, infoBufferSize: '2Ki' },
    },
  },
  enableSystemLogQuery: true,
  shutdownGracePeriod: '30s',
  shutdownGracePeriodCriticalPods: '10s',
  crashLoopBackOff: { maxContainerRestartPeriod: '1m40s' },
  enableProfilingHandler: false,
  enableDebugFlagsHandler: false,
  seccompDefault: true,
  memoryThrottlingFactor: 0.8,
  memoryReservationPolicy: 'TieredReservation',
  registerWithTaints: [{ key: 'dedicated', value: 'lab', effect: 'NoSchedule' }],
  registerNode: false,
  tracing: { endpoint: 'localhost:4317', samplingRatePerMillion: 100 },
  localStorageCapacityIsolation: false,
  imageServiceEndpoint: 'unix:///run/other.sock',
  userNamespaces: { idsPerPod: 131072 },
});

/** Values of headers may be passwords. */
const maskedHeader = { 'X-One': ['<masked>'] };

/** What goes with the rest only when that is otherwise. */
const exclusive: Fields = {
  logging: { format: 'json' },
  cgroupsPerQOS: false,
  enforceNodeAllocatable: ['none'],
  cpuCFSQuota: false,
  enableControllerAttachDetach: false,
  makeIPTablesUtilChains: false,
  enableSystemLogHandler: false,
  mergeDefaultEvictionSettings: true,
  rotateCertificates: true,
  serverTLSBootstrap: true,
  reservedSystemCPUs: '0',
  shutdownGracePeriodByPodPriority: [{ priority: 100, shutdownGracePeriodSeconds: 10 }],
};

/** Set by the harness for every kubelet, to something that no default has. */
const fromHarness = new Set(['podLogsDir', 'healthzPort', 'failSwapOn', 'failCgroupV1', 'containerRuntimeEndpoint']);
/**
 * Seen elsewhere: health.test.ts asks at another address; a kubelet that runs once does not stay to be asked
 * (config/every-field.test.ts); one without its server or without debugging shows no configuration (server.test.ts); cgroups for
 * processes that are not pods would move the processes of this machine (config/every-field.test.ts, tests/node).
 */
const elsewhere = new Set([
  ...['healthzBindAddress', 'runOnce', 'enableServer', 'enableDebuggingHandlers', 'port'],
  ...['kubeletCgroups', 'systemCgroups', 'systemReservedCgroup', 'kubeReservedCgroup'],
]);

function leavesOf(type: Kind, path: readonly string[]): string[] {
  if (type.kind !== 'struct') return [path.join('.')];
  return Object.entries(type.fields).flatMap(([name, field]) => leavesOf(field.type, [...path, name]));
}

const valueAt = (tree: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((at, name) => (at === undefined ? undefined : Object(at)[name]), tree);

/** On a machine with cgroup v2, which some of the fields need. */
async function shown(config: Fields, server?: { address: string; port: number }): Promise<Fields> {
  await using kubelet = await startKubelet({ config, prepare: CGROUP_V2, ...(server && { server }) });
  await kubelet.up();
  return await kubelet.configz();
}

describe('/configz of a running kubelet', () => {
  const leaves = leavesOf(kubeletConfiguration, []);

  it('shows every field as it was written', async () => {
    const pair = temporaryDirectory();
    const made = await createSelfSigned('node', Date.now());
    writeFileSync(join(pair, 'tls.crt'), made.certificate);
    writeFileSync(join(pair, 'tls.key'), made.key);
    const everything = everythingWith(pair);
    const [defaults, first, second] = await Promise.all([
      shown({}),
      shown(everything, { address: '127.0.0.3', port: 11250 }),
      shown(exclusive),
    ]);
    rmSync(pair, { recursive: true });
    const unproven = new Set(leaves.filter((path) => !fromHarness.has(path) && !elsewhere.has(path)));
    for (const [config, answer] of [
      [everything, first],
      [exclusive, second],
    ] as const) {
      for (const path of leaves) {
        const written = valueAt(config, path);
        if (written === undefined) continue;
        assert.deepEqual(valueAt(answer, path), path === 'staticPodURLHeader' ? maskedHeader : written, path);
        // The harness needs authentication switched off, which is no default either.
        if (!isDeepStrictEqual(written, valueAt(defaults, path)) || path.startsWith('auth')) unproven.delete(path);
      }
    }
    assert.deepEqual([...unproven], [], 'every field of the schema has a value above that is no default');
  });

  it('names itself as a file would', async () => {
    const { kind, apiVersion } = await shown({});
    assert.deepEqual([kind, apiVersion], ['KubeletConfiguration', 'kubelet.config.k8s.io/v1beta1']);
  });
});
