import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { completeConfiguration } from '../file/complete.ts';
import { decodeKubeletConfiguration } from '../file/decode.ts';
import { renderConfigz, renderKubeletConfiguration } from './configz.ts';
import { applyDefaults, applyFileDefaults } from './defaults.ts';

// What the recorded reference was started with.
const recordedInput = `
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: /lab/manifests
podLogsDir: /logs
readOnlyPort: 10255
tlsCertFile: /lab/kpki-go/kubelet.crt
tlsPrivateKeyFile: /lab/kpki-go/kubelet.key
authentication: {x509: {clientCAFile: /lab/pki/ca.crt}}
oomScoreAdj: 0
clusterDomain: cluster.local
clusterDNS: [10.96.0.10]
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
failSwapOn: false
failCgroupV1: false
containerRuntimeEndpoint: unix:///lab/cri.sock
logging: {verbosity: 2}
`;

function complete(text: string) {
  const decoded = decodeKubeletConfiguration([{ path: '/etc/kubelet.yaml', text, kind: 'file' }], { strict: true });
  assert.deepEqual([...decoded.problems, ...decoded.warnings], []);
  return completeConfiguration(decoded);
}

test('configz is the same as that of the reference for the same input, with keys in the same order', () => {
  const recorded = readFileSync(new URL('../testdata/configz.json', import.meta.url), 'utf8')
    .replaceAll('$LAB', '/lab')
    .replaceAll('$LOGS', '/logs');
  const expected = JSON.stringify(JSON.parse(recorded), null, 1);
  assert.equal(JSON.stringify(renderConfigz(complete(recordedInput)), null, 1), expected);
});

test('configz omits zeros only where the reference does', () => {
  const shown = renderKubeletConfiguration(
    applyDefaults({
      registerWithTaints: [{ key: 'a', value: '', effect: 'NoSchedule' }],
      reservedMemory: [{ numaNode: 0, limits: { memory: '1Gi', 'hugepages-2Mi': '0' } }],
      shutdownGracePeriodByPodPriority: [{ priority: 0, shutdownGracePeriodSeconds: 0 }],
      maxParallelImagePulls: 0,
      singleProcessOOMKill: false,
      userNamespaces: {},
      tracing: { samplingRatePerMillion: 0 },
      enforceNodeAllocatable: [],
      memorySwap: { swapBehavior: 'NoSwap' },
      logging: { vmodule: [{ filePattern: 'a', verbosity: 0 }] },
      featureGates: { B: false, A: true },
      cpuCFSQuotaPeriod: 0,
    }),
  );
  assert.deepEqual(shown['registerWithTaints'], [{ key: 'a', effect: 'NoSchedule' }]);
  assert.deepEqual(shown['reservedMemory'], [{ numaNode: 0, limits: { 'hugepages-2Mi': '0', memory: '1Gi' } }]);
  assert.deepEqual(shown['shutdownGracePeriodByPodPriority'], [{ priority: 0, shutdownGracePeriodSeconds: 0 }]);
  assert.equal(shown['maxParallelImagePulls'], 0);
  assert.equal(shown['singleProcessOOMKill'], false);
  assert.deepEqual(shown['userNamespaces'], {});
  assert.deepEqual(shown['tracing'], { samplingRatePerMillion: 0 });
  assert.equal(shown['enforceNodeAllocatable'], undefined);
  assert.deepEqual(shown['memorySwap'], { swapBehavior: 'NoSwap' });
  assert.equal(JSON.stringify(shown['featureGates']), '{"A":true,"B":false}');
  assert.equal(shown['cpuCFSQuotaPeriod'], '0s');
  assert.equal(shown['rotateCertificates'], undefined);
});

test('configz can be read as a file and gives the same configuration', () => {
  const config = applyFileDefaults({ evictionSoft: { 'memory.available': '1Gi' }, syncFrequency: 1500, maxPods: 7 });
  assert.deepEqual(complete(JSON.stringify(renderKubeletConfiguration(config))), config);
});
