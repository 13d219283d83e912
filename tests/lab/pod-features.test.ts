/** A sealed world must not take away what pods may ask of a node: shown with the reference kubelet, so that later failures are ours. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUSYBOX_IMAGE } from '../../tools/machine/images.ts';
import { lab } from './lab.ts';
import { eventually, untilLogged, writeStaticPod } from './static-pods.ts';

const DONE = 'script is through';

const running = (script: string, more: Readonly<Record<string, unknown>> = {}) => ({
  name: 'main',
  image: BUSYBOX_IMAGE,
  command: ['sh', '-c', `${script}; echo ${DONE}; exec sleep 1000`],
  ...more,
});
const privileged = { securityContext: { privileged: true } };

test('user namespaces, host namespaces, mounts that propagate, host ports and limits work in a world', async (t) => {
  await using node = await lab.reference({ test: t });
  await node.exec(['mkdir', '-p', '/var/lib/shared-with-pod/point']);
  const shared = { name: 'shared', hostPath: { path: '/var/lib/shared-with-pod' } };
  const pods = {
    'user-namespace': { hostUsers: false, containers: [running('cat /proc/self/uid_map')] },
    'host-network': { hostNetwork: true, hostPID: true, containers: [running('ip -o address; cat /proc/1/comm')] },
    propagates: {
      volumes: [shared],
      containers: [
        running('mount -t tmpfs from-pod /shared/point', {
          ...privileged,
          volumeMounts: [{ name: 'shared', mountPath: '/shared', mountPropagation: 'Bidirectional' }],
        }),
      ],
    },
    'host-port': {
      containers: [{ ...running('httpd -p 80 -h /etc'), ports: [{ containerPort: 80, hostPort: 8088 }] }],
    },
    limited: {
      containers: [running('cat /proc/self/cgroup', { resources: { limits: { cpu: '100m', memory: '50Mi' } } })],
    },
  };
  for (const [name, spec] of Object.entries(pods)) await writeStaticPod(node, { name, spec });
  const logOf = (name: keyof typeof pods) => untilLogged(node, name, 'main', DONE);

  assert.doesNotMatch(await logOf('user-namespace'), / 0 +0 +4294967295/, 'root in the pod is not root on the node');
  const hostNetwork = await logOf('host-network');
  assert.match(hostNetwork, /192\.0\.2\.10\/24/);
  assert.match(hostNetwork, /cni0/);
  await logOf('propagates');
  assert.match(
    (await node.exec(['cat', '/proc/mounts'])).stdout,
    /^from-pod \/var\/lib\/shared-with-pod\/point tmpfs/m,
  );
  await logOf('host-port');
  await eventually('the host port answers', () =>
    node.gate.request(`http://${node.address}:8088/passwd`).then(
      ({ status }) => (status === 200 ? true : undefined),
      () => undefined,
    ),
  );
  assert.match(await logOf('limited'), /:\/kubepods\/pod[0-9a-f-]+\/[0-9a-f]{64}$/m);
});
