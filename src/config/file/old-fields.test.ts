import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PartialKubeletConfiguration } from '../schema/kubelet-configuration.ts';
import { defaultSettings } from '../settings.ts';
import { applyOldSettings } from '../settings-layers.ts';
import { decodeKubeletConfiguration } from './decode.ts';
import type { OldSettings } from './old-fields.ts';
import { formatFileProblem } from './report.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

/** Strict, because old fields stay accepted even then. */
function decodeBody(body: string) {
  return decodeKubeletConfiguration([{ path: 'k.yaml', text: head + body, kind: 'file' }], { strict: true });
}

const renamed: readonly (readonly [body: string, values: PartialKubeletConfiguration, warning: RegExp])[] = [
  ['podManifestPath: /pods', { staticPodPath: '/pods' }, /^k\.yaml:3:1: podManifestPath: old name of staticPodPath/],
  ['manifestURL: http://a', { staticPodURL: 'http://a' }, /manifestURL: old name of staticPodURL/],
  ['manifestURLHeader: "a: b:c"', { staticPodURLHeader: { a: ['b:c'] } }, /manifestURLHeader: old name of/],
  ['manifestURLHeader: {a: [b, c]}', { staticPodURLHeader: { a: ['b', 'c'] } }, /manifestURLHeader: old name of/],
  ['clusterDNS: 10.0.0.1', { clusterDNS: ['10.0.0.1'] }, /clusterDNS: one string is the old form/],
];

test('an old name or format is read as its successor, with one warning', () => {
  for (const [body, values, warning] of renamed) {
    const decoded = decodeBody(body);
    assert.deepEqual(decoded.problems, [], body);
    assert.deepEqual(decoded.values, values, body);
    assert.equal(decoded.warnings.length, 1, body);
    assert.match(decoded.warnings.map(formatFileProblem).join('\n'), warning);
  }
});

const forFlags: readonly (readonly [body: string, old: OldSettings, flag: string])[] = [
  ['cAdvisorPort: 0', { cAdvisorPort: 0 }, '--cadvisor-port'],
  ['masterServiceNamespace: m', { masterServiceNamespace: 'm' }, '--master-service-namespace'],
  ['networkPluginName: cni', { networkPluginName: 'cni' }, '--network-plugin'],
  ['networkPluginDir: /n', { networkPluginDir: '/n' }, '--cni-bin-dir'],
  ['maxPerPodContainerCount: 2', { maxPerPodContainerCount: 2 }, '--maximum-dead-containers-per-container'],
  ['maxContainerCount: -1', { maxContainerCount: -1 }, '--maximum-dead-containers'],
  ['minimumGCAge: 1m', { minimumGCAge: 60_000 }, '--minimum-container-ttl-duration'],
  ['cloudProvider: aws', { cloudProvider: 'aws' }, '--cloud-provider'],
  ['cloudConfigFile: /c', { cloudConfigFile: '/c' }, '--cloud-config'],
  ['authPath: /a', { authPath: '/a' }, '--auth-path'],
  ['requireKubeConfig: true', { requireKubeConfig: true }, '--require-kubeconfig'],
];

test('old fields that are flags today are kept apart, with one warning naming the flag', () => {
  for (const [body, old, flag] of forFlags) {
    const decoded = decodeBody(body);
    assert.deepEqual(decoded.problems, [], body);
    assert.deepEqual(decoded.values, {}, body);
    assert.deepEqual(decoded.old, old, body);
    assert.equal(decoded.warnings.length, 1, body);
    assert.ok(decoded.warnings[0]?.text.includes(flag), body);
  }
});

test('the current name overrides the old one', () => {
  const { values, warnings } = decodeBody('podManifestPath: /old\nstaticPodPath: /new');
  assert.deepEqual(values, { staticPodPath: '/new' });
  assert.match(warnings[0]?.text ?? '', /not used because that is set too/);
});

test('a wrong value of an old field is refused as any other', () => {
  for (const body of ['cAdvisorPort: x', 'minimumGCAge: 60', 'requireKubeConfig: "yes"', 'podManifestPath: 5']) {
    assert.equal(decodeBody(body).problems.length, 1, body);
  }
  for (const body of ['manifestURLHeader: no colon', 'manifestURLHeader: ":x"', 'staticPodURLHeader: "a:b"']) {
    const [problem] = decodeBody(body).problems;
    assert.equal(problem?.path, 'staticPodURLHeader', body);
  }
});

test('drop-ins may use old fields too, the last one counts', () => {
  const text = (body: string) => head + body;
  const { old } = decodeKubeletConfiguration(
    [
      { path: 'k.yaml', text: text('cloudProvider: aws\nauthPath: /a'), kind: 'file' },
      { path: '1.conf', text: text('cloudProvider: gce'), kind: 'dropin' },
    ],
    { strict: false },
  );
  assert.deepEqual(old, { cloudProvider: 'gce', authPath: '/a' });
});

test('runonce is an ordinary old field', () => {
  const decoded = decodeBody('runOnce: true');
  assert.deepEqual([decoded.values.runOnce, decoded.problems, decoded.warnings], [true, [], []]);
});

test('a file of the oldest kind is read with its own field names and forms', () => {
  const text = `apiVersion: componentconfig/v1alpha1
kind: KubeletConfiguration
podManifestPath: /pods
remoteRuntimeEndpoint: unix:///r.sock
evictionHard: memory.available<100Mi,nodefs.available<10%
evictionSoft: memory.available<200Mi
evictionSoftGracePeriod: memory.available=30s
evictionMinimumReclaim: ""
featureGates: MemoryQoS=true,NodeSwap=False
rootDirectory: /root-dir
nodeIP: 192.0.2.1
nodeLabels: {a: b}
cniBinDir: /cni
lockFilePath: /lock
dockerEndpoint: unix:///docker.sock
maxPods: 7
`;
  const decoded = decodeKubeletConfiguration([{ path: 'k.yaml', text, kind: 'file' }], { strict: true });
  assert.deepEqual(decoded.problems, []);
  assert.deepEqual(decoded.values, {
    staticPodPath: '/pods',
    containerRuntimeEndpoint: 'unix:///r.sock',
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' },
    evictionSoft: { 'memory.available': '200Mi' },
    evictionSoftGracePeriod: { 'memory.available': '30s' },
    evictionMinimumReclaim: {},
    featureGates: { MemoryQoS: true, NodeSwap: false },
    maxPods: 7,
  });
  const settings = applyOldSettings(defaultSettings, decoded.old);
  assert.equal(settings.directories.root, '/root-dir');
  assert.deepEqual([settings.node.ips, settings.node.labels], [['192.0.2.1'], { a: 'b' }]);
  assert.deepEqual([settings.network.cniBinDir, settings.lock.file], ['/cni', '/lock']);
  const warnings = decoded.warnings.map(formatFileProblem).join('\n');
  assert.match(warnings, /apiVersion: the oldest kind of this file/);
  assert.match(warnings, /dockerEndpoint: has no effect: there is no such setting any more/);
});

test('a field that is gone is unknown in a file of today', () => {
  assert.match(decodeBody('dockerEndpoint: x').problems.map(formatFileProblem).join(), /dockerEndpoint/);
});

test('an old string that has no pairs is refused like any wrong value', () => {
  assert.equal(decodeBody('evictionHard: much').problems.length, 1);
});
