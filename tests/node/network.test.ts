/** The kubelet's part of the network, on a real node: its chains of iptables, a pod with a host port, the network of kubenet with limited bandwidth. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { LabNode } from '../lab/lab.ts';
import { BUSYBOX, type PodNode, podNode, until } from './pod-support.ts';

const recorded = readFileSync(new URL('../../src/network/testdata/iptables.txt', import.meta.url), 'utf8');
const WAIT_MS = 120_000;

/** The chains and rules of a node that are the kubelet's, table by table, as in the recording of the reference. */
async function chainsOf(node: LabNode, save: string): Promise<readonly string[]> {
  const { stdout } = await node.exec([save]);
  const lines = stdout.split('\n').map((line) => line.replace(/\[\d+:\d+\]$/, '[0:0]'));
  const tables = new Map<string, string[]>();
  let table = '';
  for (const line of lines) {
    if (line.startsWith('*')) table = line;
    else if (/^:KUBE-|KUBE-FIREWALL/.test(line)) tables.set(table, [...(tables.get(table) ?? []), line]);
  }
  return [...tables].flatMap(([name, own]) => [name, ...own]).sort();
}

const RECORDED = recorded.trim().split('\n').sort();
const RECORDED_V6 = ['*filter', '*mangle', '*nat', ...Array(3).fill(':KUBE-KUBELET-CANARY - [0:0]')];

const untilSame = (what: string, read: () => Promise<readonly string[]>, expected: readonly string[]) =>
  until(what, async () => ((await read()).join('\n') === expected.join('\n') ? true : undefined), WAIT_MS);

const answers = ({ gate, address }: LabNode) =>
  until(
    'the host port answers',
    () =>
      gate.request(`http://${address}:8088/passwd`).then(
        ({ status }) => (status === 200 ? true : undefined),
        () => undefined,
      ),
    WAIT_MS,
  );

async function servesOverFlushes({ node, write, running }: PodNode): Promise<void> {
  const expectedV6 = [...RECORDED_V6, ':KUBE-IPTABLES-HINT - [0:0]'].sort();
  await untilSame('the chains of the reference', () => chainsOf(node, 'iptables-save'), RECORDED);
  await untilSame('those of IPv6', () => chainsOf(node, 'ip6tables-save'), expectedV6);
  const serve = 'httpd -f -p 80 -h /etc';
  const metadata = { annotations: { 'kubernetes.io/ingress-bandwidth': '2M' } };
  const container = { name: 'c', image: BUSYBOX, command: ['sh', '-c', serve] };
  await write('web', { containers: [{ ...container, ports: [{ containerPort: 80, hostPort: 8088 }] }] }, metadata);
  await running('web', 'c');
  await answers(node);

  await node.exec(['iptables', '-F']);
  await untilSame('the rules are back', () => chainsOf(node, 'iptables-save'), RECORDED);
  await answers(node);
  // As a firewall does that replaces everything: chains and all. What the plugins of the runtime have made for the pod is theirs.
  await node.exec(['sh', '-c', 'iptables -t mangle -F; iptables -t mangle -X; iptables -F; iptables -X']);
  await untilSame('the chains are back', () => chainsOf(node, 'iptables-save'), RECORDED);
  await answers(node);
}

async function hasTheNetworkOfKubenet({ node, cri, sandboxes }: PodNode): Promise<void> {
  const [sandbox] = await sandboxes('web');
  assert.ok(sandbox);
  const status = await cri.sandboxes.status(sandbox.id, {}, new AbortController().signal);
  assert.match(status?.status?.network?.ip ?? '', /^10\.89\.7\./);
  const { stdout } = await node.exec(['sh', '-c', 'ip -o link show cbr0; tc qdisc show']);
  assert.match(stdout, /cbr0: <[^>]*PROMISC/, 'hairpinMode promiscuous-bridge');
  assert.match(stdout, /qdisc tbf \S+ dev veth\S+ root .*rate 2Mbit/);
}

test('a node keeps its chains and the network of its pods', { timeout: 400_000 }, async (t) => {
  const place = await podNode(t, { kubelet: 'none' });
  const { node } = place;
  const cni = join(dirname(node.containerd.configFile), 'cni');
  const flags = ['--network-plugin=kubenet', `--cni-conf-dir=${cni}`, '--cni-bin-dir=/usr/lib/cni'];
  await node.kubelet.start({ flags, config: { podCIDR: '10.89.7.0/24' } });
  await until('kubenet is written', () => readFile(join(cni, '10-kubenet.conflist'), 'utf8').catch(() => undefined));
  await t.test('the chains are those of the reference and survive flushes', () => servesOverFlushes(place));
  await t.test('pods are in the network of kubenet, with their bandwidth', () => hasTheNetworkOfKubenet(place));

  await t.test('on the legacy tables as well', async () => {
    await node.kubelet.stop();
    const programs = join(node.world.directory, 'legacy');
    await mkdir(programs);
    for (const name of ['iptables', 'ip6tables', 'iptables-restore', 'ip6tables-restore']) {
      const [base, ...rest] = name.split('-');
      await symlink(join('/usr/sbin', [base, 'legacy', ...rest].join('-')), join(programs, name));
    }
    await node.kubelet.start({ flags, env: { PATH: `${programs}:${process.env['PATH']}` } });
    await untilSame('the legacy chains', () => chainsOf(node, 'iptables-legacy-save'), RECORDED);
    assert.match(
      await readFile(node.kubelet.logFile, 'utf8'),
      /Initialized iptables rules\." protocol="IPv4" backend="legacy"/,
    );
  });
});
