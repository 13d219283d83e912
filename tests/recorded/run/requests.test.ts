import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode } from '../../../src/wire/encode.ts';
import {
  CreateContainerRequest,
  CreateContainerResponse,
  ExecSyncRequest,
  RunPodSandboxRequest,
  RunPodSandboxResponse,
  StopContainerRequest,
} from '../../../src/wire/gen/cri-runtime-v1.ts';
import { frame } from '../../../src/wire/grpc-frames.ts';
import type { Init, MessageType } from '../../../src/wire/message.ts';
import type { SeenCall } from '../../lab/cri-proxy.ts';
import type { RecordedLife } from '../lives.ts';
import { recordedCalls, requestLines, seenCalls } from './requests.ts';

const seen = <T>(call: string, type: MessageType<T>, request: Init<T>, answer?: Buffer): SeenCall => ({
  path: `/runtime.v1.RuntimeService/${call}`,
  request: frame(encode(type, request)),
  at: 0,
  ...(answer === undefined ? {} : { answer }),
});
const sandboxConfig = { metadata: { name: 'web', namespace: 'n', uid: 'u', attempt: 0 }, hostname: 'web' };
const config = {
  metadata: { name: 'c', attempt: 1 },
  envs: [
    { key: 'B', value: Buffer.from('2') },
    { key: 'A', value: Buffer.from('1') },
  ],
  linux: { resources: { memoryLimitInBytes: 64, memorySwapLimitInBytes: 64 } },
};
const made = {
  sandbox: frame(encode(RunPodSandboxResponse, { podSandboxId: 's1' })),
  container: frame(encode(CreateContainerResponse, { containerId: 'c1' })),
};
const exec = seen('ExecSync', ExecSyncRequest, { containerId: 'c1', cmd: ['true'], timeout: 1 });
const calls = [
  seen('RunPodSandbox', RunPodSandboxRequest, { config: sandboxConfig }, made.sandbox),
  seen('CreateContainer', CreateContainerRequest, { podSandboxId: 's1', config, sandboxConfig }, made.container),
  exec,
  exec,
  seen('ExecSync', ExecSyncRequest, { containerId: 'of another pod', cmd: ['false'] }),
  seen('StopContainer', StopContainerRequest, { containerId: 'c1', timeout: 2 }),
];
const lines = [
  'c#1 CreateContainer config.envs[0]: "A=1"',
  'c#1 CreateContainer config.envs[1]: "B=2"',
  'c#1 CreateContainer config.linux.resources.memoryLimitInBytes: 64',
  'c#1 CreateContainer config.linux.resources.memorySwapLimitInBytes: 64',
  'c#1 CreateContainer config.metadata.attempt: 1',
  'c#1 CreateContainer config.metadata.name: "c"',
  'c#1 CreateContainer sandboxConfig: "(as in RunPodSandbox)"',
  'c#1 ExecSync cmd[0]: "true"',
  'c#1 ExecSync timeout: 1',
  'c#1 StopContainer timeout: 2',
  'sandbox#0 RunPodSandbox config.hostname: "web"',
  'sandbox#0 RunPodSandbox config.metadata.name: "web"',
  'sandbox#0 RunPodSandbox config.metadata.namespace: "n"',
  'sandbox#0 RunPodSandbox config.metadata.uid: "u"',
];

test('what a proxy saw of one pod', () => assert.deepEqual(requestLines(seenCalls(calls, 'u')), lines));

test('what was asked for another pod is left out', () => assert.deepEqual(seenCalls(calls, 'another'), []));

test('a container that is made in another sandbox than the one that runs shows it', () => {
  const other = { ...sandboxConfig, hostname: 'changed' };
  const [run] = calls;
  assert.ok(run !== undefined);
  const create = { podSandboxId: 's1', config, sandboxConfig: other };
  const shown = requestLines(
    seenCalls([run, seen('CreateContainer', CreateContainerRequest, create, made.container)], 'u'),
  );
  assert.ok(shown.includes('c#1 CreateContainer sandboxConfig.hostname: "changed"'));
});

test('the recording says the same in the same lines', () => {
  const env = (key: string, value: string) => ({ key, value });
  const cri = [
    {
      call: 'RunPodSandbox',
      req: { config: { metadata: { name: 'web', namespace: 'n', uid: 'u' }, hostname: 'web' } },
      res: { pod_sandbox_id: 's9' },
    },
    {
      call: 'CreateContainer',
      req: {
        pod_sandbox_id: 's9',
        config: {
          metadata: { name: 'c', attempt: 1 },
          envs: [env('A', '1'), env('B', '2')],
          linux: { resources: { memory_limit_in_bytes: '64', memory_swap_limit_in_bytes: '64' } },
        },
        sandbox_config: '(as in RunPodSandbox)',
      },
      res: { container_id: 'c9' },
    },
    { call: 'ExecSync', req: { container_id: 'c9', cmd: ['true'], timeout: '1' }, res: {} },
    { call: 'StopContainer', req: { container_id: 'c9', timeout: '2' }, res: {} },
    { call: 'RemoveContainer', req: { container_id: 'c9' }, res: {} },
  ].map((call) => ({ ...call, ms: 0, took: 0 }));
  assert.deepEqual(requestLines(recordedCalls({ cri } as unknown as RecordedLife)), lines);
});
