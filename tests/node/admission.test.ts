/** Pods that must not start here, and those for which others must go, under our kubelet on a real node. */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import { ContainerState } from '../../src/wire/gen/cri-runtime-v1.ts';
import { podNode, stays, until } from './pod-support.ts';

test('a pod that may not start says why, and nothing of it runs', async (t) => {
  const place = await podNode(t, {
    flags: ['--node-labels=disk=fast'],
    config: { allowedUnsafeSysctls: ['kernel.msg*'] },
  });
  const containers = [stays('a')];
  const port = [{ containerPort: 80, hostPort: 8081 }];
  await place.write('first', {
    containers: [stays('a', { ports: port })],
    nodeSelector: { disk: 'fast', 'kubernetes.io/os': 'linux' },
  });
  await place.running('first', 'a');
  const sysctl = (name: string, value: string) => ({ securityContext: { sysctls: [{ name, value }] } });
  const cases: readonly (readonly [string, object, RegExp])[] = [
    [
      'selector',
      { containers, nodeSelector: { disk: 'slow' } },
      /^NodeAffinity: "Predicate NodeAffinity failed: node\(s\) didn't match Pod's node affinity\/selector"$/,
    ],
    [
      'sysctl',
      { containers, ...sysctl('kernel.sem', '1') },
      /^SysctlForbidden: "forbidden sysctl: \\"kernel.sem\\" not allowlisted"$/,
    ],
    ['os', { containers, os: { name: 'windows' } }, /^PodOSNotSupported: /],
    [
      'ports',
      { containers: [stays('a', { ports: port })] },
      /^NodePorts: "Predicate NodePorts failed: node\(s\) didn't have free ports for the requested pod ports"$/,
    ],
    [
      'apparmor',
      { containers, securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } },
      /^AppArmor: "Cannot enforce AppArmor: AppArmor is not enabled on the host"$/,
    ],
    [
      'greedy',
      { containers: [stays('a', { resources: { requests: { cpu: '900' } } })] },
      /^UnexpectedAdmissionError: .*no set of running pods found to reclaim resources: \[\(res: cpu, q: \d+\), \]"$/,
    ],
  ];
  for (const [name, spec, event] of cases) {
    await place.write(name, spec);
    await place.untilEvent(name, event);
    assert.deepEqual(await place.sandboxes(name), [], name);
  }
  await place.write('allowed', { containers, ...sysctl('kernel.msgmax', '65536') });
  await place.running('allowed', 'a');
});

test('a rejected pod stays rejected after a restart of the kubelet, and its room is free when its file goes', async (t) => {
  const place = await podNode(t, {});
  const port = { ports: [{ containerPort: 80, hostPort: 8081 }] };
  const first = await place.write('first', { containers: [stays('a', port)] });
  const { id } = await place.running('first', 'a');
  await place.write('second', { containers: [stays('a', port)] });
  await place.untilEvent('second', /^NodePorts: /);
  await place.node.kubelet.kill();
  await place.node.kubelet.start();
  assert.equal((await place.running('first', 'a')).id, id);
  assert.deepEqual(await place.sandboxes('second'), []);
  await rm(first);
  await place.gone('first');
  await place.write('third', { containers: [stays('a', port)] });
  await place.running('third', 'a');
});

test('a label that was taken away does not end the pod that was started with it', async (t) => {
  const place = await podNode(t, { flags: ['--node-labels=disk=fast'] });
  await place.write('one', { containers: [stays('a')], nodeSelector: { disk: 'fast' } });
  const { id } = await place.running('one', 'a');
  await place.node.kubelet.kill();
  await place.node.kubelet.start({ flags: ['-v=2'] });
  await place.write('later', { containers: [stays('a')], nodeSelector: { disk: 'fast' } });
  await place.untilEvent('later', /^NodeAffinity: /);
  assert.equal((await place.running('one', 'a')).id, id);
});

test('a more important pod takes the place of a lesser one', async (t) => {
  const place = await podNode(t, {});
  const cpu = `${availableParallelism() * 1000 - 300}m`;
  const asking = { resources: { requests: { cpu } } };
  await place.write('small', { priority: 1, containers: [stays('s', { resources: { requests: { cpu: '100m' } } })] });
  await place.write('lesser', { priority: 1, terminationGracePeriodSeconds: 1, containers: [stays('l', asking)] });
  const small = await place.running('small', 's');
  await place.running('lesser', 'l');
  await place.write('important', { priorityClassName: 'system-node-critical', containers: [stays('i', asking)] });
  await place.running('important', 'i');
  await place.untilEvent('lesser', /^Preempting: "Preempted in order to admit critical pod"$/);
  await until('the lesser one has ended', async () =>
    (await place.containers('lesser')).every(({ state }) => state === ContainerState.CONTAINER_EXITED)
      ? true
      : undefined,
  );
  assert.equal((await place.running('small', 's')).id, small.id);
});

test('no more pods than the node may have', async (t) => {
  const place = await podNode(t, { config: { maxPods: 2 } });
  for (const name of ['one', 'two']) {
    await place.write(name, { containers: [stays('a')] });
    await place.running(name, 'a');
  }
  await place.write('three', { containers: [stays('a')] });
  await place.untilEvent('three', /^UnexpectedAdmissionError: .*\(res: pods, q: 1\)/);
  assert.deepEqual(await place.sandboxes('three'), []);
});
