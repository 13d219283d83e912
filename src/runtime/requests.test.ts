import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../api/pod.ts';
import { createRequests, type RequestsConfig, type RequestsDeps } from './requests.ts';
import type { ObjectData } from './spec/environment.ts';

const container = { name: 'c', image: 'i', envFrom: [{ configMapRef: { name: 'm' } }] };
const pod: Pod = { metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec: { containers: [container] } };

async function requestWith(configMap: ObjectData) {
  const deps = {
    nodeIps: () => [],
    nodeAllocatable: () => ({}),
    objects: { services: () => Promise.resolve([]), configMap: () => Promise.resolve(configMap) },
  } as unknown as RequestsDeps;
  const config = { podLogsDirectory: '/l', settings: {}, gates: () => false } as unknown as RequestsConfig;
  const image = { imageRef: 'i', user: { uid: 0, username: '' } };
  const nothing = { podIps: [], podDirectory: '/p', volumes: new Map(), imageVolumes: new Map() };
  const input = { pod, container, attempt: 0, image, ...nothing, terminationLog: undefined, targetId: undefined };
  return await createRequests(deps, config).container(input, new AbortController().signal);
}

test('an object that is missing is for the user to make, one that can not be read is for the API server', async () => {
  const reason = 'CreateContainerConfigError';
  const missing = await requestWith({ kind: 'missing', message: 'configmap "m" not found' });
  assert.deepEqual(missing, { kind: 'problem', reason, message: 'configmap "m" not found' });
  const failed = await requestWith({ kind: 'failed', message: 'no answer' });
  assert.deepEqual(failed, { kind: 'problem', reason, message: 'no answer', actor: 'api-server' });
});
