/**
 * The reference kubelet's verdict on 93 configurations and command lines, recorded, against ours, through the front door.
 * Verdicts that the reference reaches only while it starts are ours at validation already.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeInLab, readRecord, saidTo } from './lab-testing.ts';

const recorded = readRecord('config-verdicts.jsonl');

/** The field or flag that the one line of each refusal has to name. */
const refusedBecauseOf: Readonly<Record<string, string>> = {
  'wrong type': 'maxPods',
  'negative max pods': 'maxPods',
  'image gc low above high': 'imageGCLowThresholdPercent',
  'image gc high 101': 'imageGCHighThresholdPercent',
  'image gc equal': 'imageGCLowThresholdPercent',
  'port 70000': 'port',
  'healthz port -1': 'healthzPort',
  'read-only port 70000': 'readOnlyPort',
  'eviction unknown signal': 'evictionHard.moon.available',
  'eviction bad quantity': 'evictionHard.memory.available',
  'eviction percent over 100': 'evictionHard.memory.available',
  'eviction negative': 'evictionHard.memory.available',
  'soft without grace': 'evictionSoft.memory.available',
  'enforce unknown': 'enforceNodeAllocatable[1]',
  'enforce none and pods': 'enforceNodeAllocatable[0]',
  'enforce system without cgroup': 'systemReservedCgroup',
  'kube reserved unknown resource': 'kubeReserved.apples',
  'kube reserved negative': 'kubeReserved.cpu',
  'qps negative': 'kubeAPIQPS',
  'burst negative': 'kubeAPIBurst',
  'event qps negative': 'eventRecordQPS',
  'registry qps negative': 'registryPullQPS',
  'log size bad': 'containerLogMaxSize',
  'log files 1': 'containerLogMaxFiles',
  'log workers 0': 'containerLogMaxWorkers',
  'log monitor 1s': 'containerLogMonitorInterval',
  'parallel pulls with serial': 'maxParallelImagePulls',
  'parallel pulls 0': 'maxParallelImagePulls',
  'tls version bad': 'tlsMinVersion',
  'cipher bad': 'tlsCipherSuites[0]',
  'topology policy bad': 'topologyManagerPolicy',
  'topology scope bad': 'topologyManagerScope',
  'cpu policy static without reserve': 'cpuManagerPolicy',
  'cpu policy bad': 'cpuManagerPolicy',
  'memory policy static without reserve': 'memoryManagerPolicy',
  'shutdown critical longer': 'shutdownGracePeriodCriticalPods',
  'shutdown half second': 'shutdownGracePeriod',
  'pods per core negative': 'podsPerCore',
  'hairpin bad': 'hairpinMode',
  'feature gate unknown': 'featureGates.NoSuchGate',
  'feature gate beta off': 'featureGates.InPlacePodVerticalScaling',
  'lease duration negative': 'nodeLeaseDurationSeconds',
  'oom score 1001': 'oomScoreAdj',
  'cfs period 1us': 'cpuCFSQuotaPeriod',
  'cfs period 2s': 'cpuCFSQuotaPeriod',
  'iptables bits 32': 'iptablesMasqueradeBit',
  'unsafe sysctl bad': 'allowedUnsafeSysctls[0]',
  'reserved cpus bad': 'reservedSystemCPUs',
  'swap behaviour bad': 'memorySwap.swapBehavior',
  'logging format bad': 'logging.format',
  'tracing sampling negative': 'tracing.samplingRatePerMillion',
  'register with taints bad': 'registerWithTaints[0].key',
  'crash loop max 0': 'crashLoopBackOff.maxContainerRestartPeriod',
  'crash loop max 400s': 'crashLoopBackOff.maxContainerRestartPeriod',
  'duration without unit': 'syncFrequency',
  'duration number': 'syncFrequency',
  'bool as string': 'enableServer',
  'flag unknown': '--no-such',
  'flag bad int': '--max-pods',
  'flag bad duration': '--sync-frequency',
  'node label reserved': '--node-labels',
  'positional argument': 'extra',
  'feature gates flag': 'NoSuch',
};

/** What the reference takes although it makes no sense, or does nothing: the warning has to name it. */
const warnedBecauseOf: Readonly<Record<string, string>> = {
  'unknown field': 'maxPodz',
  'cgroup driver bad': 'cgroupDriver',
  'change detection bad': 'configMapAndSecretChangeDetectionStrategy',
  'cluster dns not an ip': 'clusterDNS[0]',
  'qos reserved without gate': 'qosReserved.memory',
  'static url bad': 'staticPodURL',
  'node ip bad': '--node-ip',
};

test('the tables of this test match the record', () => {
  assert.equal(recorded.length, 93);
  const refused = recorded.filter(({ verdict }) => verdict === 'refused').map(({ name }) => name);
  assert.deepEqual(Object.keys(refusedBecauseOf).sort(), refused.sort());
  const accepted = recorded.filter(({ verdict }) => verdict === 'accepted').map(({ name }) => name);
  assert.deepEqual(
    Object.keys(warnedBecauseOf).filter((name) => !accepted.includes(name)),
    [],
  );
});

const usualWarnings = saidTo(judgeInLab({}, []), 'warnings');

for (const { name, config, flags, verdict } of recorded) {
  test(`${verdict}: ${name}`, () => {
    const outcome = judgeInLab(config, flags);
    const problems = saidTo(outcome, 'problems');
    const warnings = saidTo(outcome, 'warnings').filter((warning) => !usualWarnings.includes(warning));
    if (verdict === 'refused') {
      assert.equal(outcome.kind, 'refused');
      assert.equal(problems.length, 1, problems.join('\n'));
      const field = refusedBecauseOf[name] ?? assert.fail(`no field is known for ${name}`);
      assert.ok(problems[0]?.includes(field), `${problems[0]} should name ${field}`);
      return;
    }
    assert.deepEqual(problems, []);
    assert.equal(outcome.kind, 'ready');
    const field = warnedBecauseOf[name];
    if (field !== undefined)
      assert.ok(
        warnings.some((warning) => warning.includes(field)),
        warnings.join('\n'),
      );
    // A configuration file that makes sense passes without a word.
    else if (flags.length === 0) assert.deepEqual(warnings, []);
  });
}

test('with an API server, an unknown change detection strategy is refused too', () => {
  const config = { configMapAndSecretChangeDetectionStrategy: 'Moon' };
  const problems = saidTo(judgeInLab(config, ['--kubeconfig=/lab/kubeconfig']), 'problems');
  assert.equal(problems.length, 1);
  assert.match(problems[0] ?? '', /configMapAndSecretChangeDetectionStrategy/);
});

test('every problem of file and flags is reported in one run, those of the file with their line', () => {
  const config = { maxPods: -1, port: 70_000, hairpinMode: 'moon', evictionHard: { 'moon.available': '10%' } };
  const problems = saidTo(judgeInLab(config, ['--node-labels=kubernetes.io/foo=bar']), 'problems');
  assert.equal(problems.length, 5, problems.join('\n'));
  for (const field of ['maxPods', 'port', 'hairpinMode', 'evictionHard.moon.available']) {
    const line = problems.find((problem) => problem.includes(`${field}:`)) ?? '';
    assert.match(line, /^\/lab\/kubelet\.json:\d+/, field);
  }
  assert.ok(problems.some((problem) => problem.includes('--node-labels')));
});

test('a refused item of a list or map is one problem and does not make later rules throw', () => {
  const configs = {
    'clusterDNS[1]': { clusterDNS: ['10.96.0.10', 1] },
    'evictionHard.memory.available': { evictionHard: { 'memory.available': 5 } },
    'kubeReserved.cpu': { kubeReserved: { cpu: 1 } },
    'registerWithTaints[0]': { registerWithTaints: ['a=b:NoSchedule'] },
    'registerWithTaints[0].key': { registerWithTaints: [{ key: 1, effect: 'NoSchedule' }] },
    'reservedMemory[0].limits.memory': { reservedMemory: [{ numaNode: 0, limits: { memory: 'x' } }] },
    'logging.vmodule[0].verbosity': { logging: { vmodule: [{ filePattern: 'a', verbosity: -1 }] } },
  };
  for (const [path, config] of Object.entries(configs)) {
    const problems = saidTo(judgeInLab(config, []), 'problems');
    assert.ok(problems[0]?.includes(path), `${problems.join('\n')} should name ${path}`);
  }
});
