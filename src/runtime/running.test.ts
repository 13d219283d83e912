import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid, sandboxId } from '../api/ids.ts';
import type { Container, PodSandbox, PodSandboxStatusResponse } from '../wire/gen/cri-runtime-v1.ts';
import { createRunning } from './running.ts';

const never = new AbortController().signal;
const labels = (uid: string, container?: string) => ({
  'io.kubernetes.pod.uid': uid,
  'io.kubernetes.pod.name': `pod-${uid}`,
  'io.kubernetes.pod.namespace': 'n',
  ...(container === undefined ? {} : { 'io.kubernetes.container.name': container }),
});

function runtime(
  sandboxes: readonly Partial<PodSandbox>[],
  containers: readonly Partial<Container>[],
  ips: object = {},
) {
  const filters: unknown[] = [];
  return {
    filters,
    running: createRunning({
      sandboxes: {
        list: (filter) => {
          filters.push(filter);
          return Promise.resolve(sandboxes as readonly PodSandbox[]);
        },
        status: () => Promise.resolve({ status: { network: ips } } as unknown as PodSandboxStatusResponse),
      },
      containers: {
        list: (filter) => {
          filters.push(filter);
          return Promise.resolve(containers as readonly Container[]);
        },
      },
    }),
  };
}

test('the newest container and the newest sandbox count', async () => {
  const found = [
    { id: 'old', createdAt: 1n },
    { id: 'new', createdAt: 2n },
  ];
  const { running, filters } = runtime(found, found);
  assert.equal(await running.container(podUid('u'), 'web', never), 'new');
  assert.equal(await running.sandbox(podUid('u'), never), 'new');
  assert.deepEqual(
    filters.map((filter) => (filter as { labelSelector: object }).labelSelector),
    [{ 'io.kubernetes.pod.uid': 'u', 'io.kubernetes.container.name': 'web' }, { 'io.kubernetes.pod.uid': 'u' }],
  );
  const none = runtime([], []).running;
  assert.equal(await none.container(podUid('u'), 'web', never), undefined);
  assert.equal(await none.sandbox(podUid('u'), never), undefined);
});

test('pods are gathered from sandboxes and containers, with the image as it was named', async () => {
  const { running } = runtime(
    [{ labels: labels('a') }],
    [
      { labels: labels('a', 'web'), image: { image: 'web:1' } as never, imageRef: 'sha256:1' },
      { labels: labels('b', 'db'), imageRef: 'sha256:2' },
    ],
  );
  assert.deepEqual(await running.pods(never), [
    { uid: 'a', name: 'pod-a', namespace: 'n', containers: [{ name: 'web', image: 'web:1' }] },
    { uid: 'b', name: 'pod-b', namespace: 'n', containers: [{ name: 'db', image: 'sha256:2' }] },
  ]);
});

test('a sandbox has its first address and the additional ones, and none with the host network', async () => {
  const both = runtime([], [], { ip: '10.0.0.7', additionalIps: [{ ip: 'fd00::7' }, { ip: '' }] }).running;
  assert.deepEqual(await both.sandboxIps(sandboxId('s'), never), ['10.0.0.7', 'fd00::7']);
  assert.deepEqual(await runtime([], [], { ip: '', additionalIps: [] }).running.sandboxIps(sandboxId('s'), never), []);
});
