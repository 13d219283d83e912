/** The requests that we make of a pod, carried out by real runtimes of both generations: what its container then sees. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Container } from '../../src/api/container.ts';
import type { Pod } from '../../src/api/pod.ts';
import { cgroupVersion, limitsSwap } from '../../src/host/machine.ts';
import { createNetwork } from '../../src/network/network.ts';
import { type ContainerInput, makeContainerConfig, noExtras } from '../../src/runtime/spec/container.ts';
import { type EnvironmentInput, makeEnvironment } from '../../src/runtime/spec/environment.ts';
import { hashContainer } from '../../src/runtime/spec/hash.ts';
import { CONTAINER_HASH } from '../../src/runtime/spec/labels.ts';
import { hostsFilePath } from '../../src/runtime/spec/mounts.ts';
import { hostUserNamespace } from '../../src/runtime/spec/namespaces.ts';
import { makeSandboxConfig } from '../../src/runtime/spec/sandbox.ts';
import type { Gates, ResourceSettings, SecuritySettings } from '../../src/runtime/spec/settings.ts';
import { imageUserOf } from '../../src/runtime/spec/user.ts';
import type { LabNode } from '../lab/lab.ts';
import { BUSYBOX, bytes, labNode, never, SLEEPER } from './cri-support.ts';
import { BOTH_RUNTIMES } from './runtimes.ts';

const settings: ResourceSettings & SecuritySettings = {
  cgroupVersion: cgroupVersion(),
  cpuCfsQuota: true,
  cpuCfsQuotaPeriod: 100_000,
  memoryCapacity: 24n * 1024n ** 3n,
  swapCapacity: 0n,
  swapController: limitsSwap(cgroupVersion()),
  swapBehavior: '',
  singleProcessOomKill: true,
  hugePageSizes: [],
  pageSize: 4096,
  memoryThrottlingFactor: 0.9,
  memoryReservationPolicy: 'None',
  seccompDefault: true,
  seccompProfileRoot: '/var/lib/kubelet/seccomp',
  selinux: false,
  thermalPaths: [],
};
const gates: Gates = (name) => name !== 'MemoryQoS' && name !== 'ContainerStopSignals';

const container: Container = {
  name: 'main',
  image: BUSYBOX,
  command: ['sh', '-c', '$(SCRIPT)'],
  workingDir: '/data',
  env: [
    { name: 'SCRIPT', value: SLEEPER },
    { name: 'WHERE', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    { name: 'RAW', valueFrom: { secretKeyRef: { name: 'raw', key: 'k' } } },
  ],
  resources: { requests: { cpu: '100m', memory: '32Mi' }, limits: { cpu: '500m', memory: '64Mi' } },
  volumeMounts: [
    { name: 'data', mountPath: '/data' },
    { name: 'data', mountPath: '/seen', readOnly: true },
  ],
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  securityContext: {
    runAsUser: 1234,
    runAsGroup: 99,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
  },
};

const podFor = (uid: string): Pod => ({
  metadata: { name: 'web', namespace: 'shop', uid, annotations: { 'kubernetes.io/config.source': 'file' } },
  spec: {
    containers: [container],
    volumes: [{ name: 'data', emptyDir: {} }],
    hostname: 'box',
    subdomain: 'sub',
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['192.0.2.53'], searches: ['a.example'], options: [{ name: 'ndots', value: '2' }] },
    hostAliases: [{ ip: '192.0.2.7', hostnames: ['one.example'] }],
    securityContext: {
      fsGroup: 3000,
      supplementalGroups: [4000],
      sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '80' }],
    },
  },
});

const network = createNetwork(
  { mono: () => performance.now(), readTextFile: (path) => readFile(path, 'utf8'), nodeIps: () => ['192.0.2.10'] },
  { clusterDns: [], clusterDomain: 'cluster.local', resolvConf: '/etc/resolv.conf', hostnameOverride: true },
);

async function sandboxOf(pod: Pod, node: LabNode) {
  const hostname = network.hostnameOf(pod);
  const dns = await network.dnsOf(pod);
  assert.ok(hostname.ok && dns.ok);
  const made = makeSandboxConfig({
    pod,
    attempt: 0,
    hostname: hostname.value.kernelName,
    dns: dns.value.config,
    podLogsDirectory: node.podLogsDirectory,
    cgroupParent: `/kubepods/burstable/pod${pod.metadata.uid}`,
    userNamespace: hostUserNamespace(),
    extraGroups: [],
    exclusiveCpus: false,
    settings,
    gates,
  });
  assert.ok(made.kind === 'ready');
  return made.config;
}

function environmentOf(pod: Pod, podIps: readonly string[]): ContainerInput['env'] {
  const secret: EnvironmentInput['secret'] = () => ({
    kind: 'found',
    data: new Map([['k', new Uint8Array([0xc3, 0xbc, 0x41])]]),
  });
  const made = makeEnvironment({
    pod,
    container,
    podIps,
    hostIps: ['192.0.2.10'],
    nodeAllocatable: {},
    services: [],
    configMap: () => ({ kind: 'missing', message: 'none here' }),
    secret,
    envFile: () => ({ kind: 'no-volume' }),
    extra: [],
    gates,
  });
  assert.ok(made.kind === 'ready');
  return made.env;
}

/** What the kubelet writes before it creates the container. */
async function preparePodDirectory(pod: Pod, node: LabNode, podIps: readonly string[]) {
  const podDirectory = join(node.kubeletDirectory, 'pods', pod.metadata.uid);
  const data = join(podDirectory, 'volumes', 'kubernetes.io~empty-dir', 'data');
  const terminationLog = join(podDirectory, 'containers', 'main', '0badcafe');
  await mkdir(data, { recursive: true });
  await chmod(data, 0o777);
  await mkdir(join(terminationLog, '..'), { recursive: true });
  await writeFile(terminationLog, '');
  await chmod(terminationLog, 0o666);
  const hosts = await network.hostsFileOf(pod, podIps);
  assert.ok(hosts.ok);
  await writeFile(hostsFilePath(podDirectory), hosts.value);
  return { podDirectory, data, terminationLog, hosts: hosts.value };
}

for (const runtime of BOTH_RUNTIMES) {
  test(`${runtime}: a container sees what its pod says`, async (t) => {
    const { node, cri } = await labNode(t, runtime);
    const pod = podFor(randomUUID());
    const config = await sandboxOf(pod, node);
    const sandbox = await cri.sandboxes.run({ config }, never);
    const podIp = (await cri.sandboxes.status(sandbox, {}, never))?.status?.network?.ip ?? '';
    assert.notEqual(podIp, '');
    const directory = await preparePodDirectory(pod, node, [podIp]);
    const { image } = await cri.images.status({ image: BUSYBOX }, {}, never);
    assert.ok(image !== undefined);
    const made = makeContainerConfig({
      pod,
      container,
      attempt: 0,
      imageRef: image.id,
      imageUser: imageUserOf({ uid: image.uid?.value, username: image.username }),
      qosClass: 'Burstable',
      env: environmentOf(pod, [podIp]),
      volumes: new Map([['data', { hostPath: directory.data }]]),
      imageVolumes: new Map(),
      subPaths: new Map(),
      blockDevices: new Map(),
      podDirectory: directory.podDirectory,
      podIps: [podIp],
      terminationLog: directory.terminationLog,
      userNamespace: hostUserNamespace(),
      targetId: undefined,
      extraGroups: [],
      exclusiveCpus: false,
      pinning: { cpus: '', mems: '' },
      nodeAllocatable: {},
      handlerRecursiveReadOnly: false,
      extras: noExtras,
      settings,
      gates,
    });
    assert.ok(made.kind === 'ready', made.kind === 'problem' ? made.message : '');
    const request = { podSandboxId: sandbox, sandboxConfig: config, config: made.config };
    const id = await cri.containers.create(request, never);
    await cri.containers.start(id, never);
    const run = async (command: string) => {
      const { stdout } = await cri.streams.execSync(
        { containerId: id, command: ['sh', '-c', command], timeoutSeconds: 60 },
        never,
      );
      return bytes(stdout).trimEnd();
    };

    assert.equal(await run('hostname'), 'box');
    assert.equal(`${await run('cat /etc/hosts')}\n`, directory.hosts);
    assert.match(directory.hosts, new RegExp(`^${podIp}\tbox\\.sub\\.shop\\.svc\\.cluster\\.local\tbox$`, 'm'));
    assert.equal(await run('cat /etc/resolv.conf'), 'search a.example\nnameserver 192.0.2.53\noptions ndots:2');
    assert.equal(await run('echo $WHERE'), podIp);
    assert.equal(await run('printf %s "$RAW" | od -An -tx1'), ' c3 bc 41');
    assert.equal(await run('pwd'), '/data');
    assert.equal(await run('id -u; id -g; id -G'), '1234\n99\n99 3000 4000');
    assert.equal(await run('cat /proc/sys/net/ipv4/ip_unprivileged_port_start'), '80');
    const status = await run('cat /proc/1/status');
    assert.match(status, /^CapEff:\t0000000000000000$/m);
    assert.match(status, /^NoNewPrivs:\t1$/m);
    assert.match(status, /^Seccomp:\t2$/m);
    assert.equal(await run('touch /x 2>/dev/null || echo refused'), 'refused');
    assert.equal(await run('touch /data/x && ls /seen; touch /seen/y 2>/dev/null || echo refused'), 'x\nrefused');
    await run('echo bye > /dev/termination-log');
    assert.equal(await readFile(directory.terminationLog, 'utf8'), 'bye\n');
    const group = join(`/kubepods/burstable/pod${pod.metadata.uid}`, id);
    const value = async (path: string) => (await node.exec(['cat', join('/sys/fs/cgroup', path)])).stdout.trim();
    assert.equal(await value(`memory${group}/memory.limit_in_bytes`), String(64 * 1024 * 1024));
    // Without a limit on both together a container could swap beyond its memory limit.
    if (settings.swapController)
      assert.equal(await value(`memory${group}/memory.memsw.limit_in_bytes`), String(64 * 1024 * 1024));
    assert.equal(await value(`cpu${group}/cpu.shares`), '102');
    assert.equal(await value(`cpu${group}/cpu.cfs_quota_us`), '50000');

    const [seen] = await cri.containers.list({ podSandboxId: sandbox }, never);
    assert.equal(seen?.annotations[CONTAINER_HASH], hashContainer(container));
    assert.match(await readFile(join(config.logDirectory ?? '', 'main', '0.log'), 'utf8'), / stdout F hello\n/);
    await cri.sandboxes.stop(sandbox, never);
    await cri.sandboxes.remove(sandbox, never);
  });
}
