/** Pods made by hand, through the CRI client alone, on a lab node of either generation of containerd. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createSystemClock } from '../../src/base/clock.ts';
import { CodedError } from '../../src/base/errors.ts';
import { type CriClient, createCriClient } from '../../src/runtime/cri/client.ts';
import { type CriTimeouts, DEFAULT_CRI_TIMEOUTS } from '../../src/runtime/cri/timeouts.ts';
import { NamespaceMode, type PodSandboxConfig, SecurityProfileProfileType } from '../../src/wire/gen/cri-runtime-v1.ts';
import type { Init } from '../../src/wire/message.ts';
import { type LabNode, lab } from '../lab/lab.ts';
import type { RuntimeName } from '../lab/supplies.ts';

export const BUSYBOX = 'lab.local/busybox:1';
export const never = new AbortController().signal;

export async function labNode(
  t: TestContext,
  runtime: RuntimeName,
  timeouts: Partial<CriTimeouts> = {},
): Promise<{ node: LabNode; cri: CriClient }> {
  const node = await lab.node({ test: t, runtime, kubelet: 'none' });
  const cri = createCriClient({
    endpoint: node.containerd.endpoint,
    clock: createSystemClock(),
    timeouts: { ...DEFAULT_CRI_TIMEOUTS, ...timeouts },
  });
  t.after(async () => {
    await cri.close();
    await node[Symbol.asyncDispose]();
  });
  return { node, cri };
}

export function sandboxConfig(node: LabNode): Init<PodSandboxConfig> {
  const uid = randomUUID();
  return {
    metadata: { name: 'pod', namespace: 'default', uid },
    hostname: 'pod',
    logDirectory: join(node.podLogsDirectory, `default_pod_${uid}`),
    labels: { 'io.kubernetes.pod.uid': uid },
    linux: {
      cgroupParent: `/kubepods/pod${uid}`,
      securityContext: {
        namespaceOptions: { pid: NamespaceMode.CONTAINER },
        seccomp: { profileType: SecurityProfileProfileType.Unconfined },
      },
    },
  };
}

export interface RunningPod {
  readonly config: Init<PodSandboxConfig>;
  readonly sandbox: string;
  readonly container: string;
}

export async function startPod(cri: CriClient, node: LabNode, script: string): Promise<RunningPod> {
  const config = sandboxConfig(node);
  const sandbox = await cri.sandboxes.run({ config }, never);
  const container = await cri.containers.create(
    {
      podSandboxId: sandbox,
      sandboxConfig: config,
      config: {
        metadata: { name: 'c' },
        image: { image: BUSYBOX },
        command: ['sh', '-c', script],
        envs: [{ key: 'GREETING', value: Buffer.from('grüße') }],
        labels: { 'io.kubernetes.container.name': 'c' },
        logPath: 'c.log',
        linux: { resources: { memoryLimitInBytes: 64 * 1024 * 1024 }, securityContext: {} },
      },
    },
    never,
  );
  await cri.containers.start(container, never);
  // The first process of a container takes no notice of SIGTERM before it has a handler.
  if (script === SLEEPER) {
    const log = join(config.logDirectory ?? '', 'c.log');
    await eventually('the sleeper handles signals', () =>
      existsSync(log) && readFileSync(log, 'utf8').includes('hello') ? true : undefined,
    );
  }
  return { config, sandbox, container };
}

export const SLEEPER = 'trap "exit 7" TERM; echo hello; while :; do sleep 1000 & wait $!; done';

/** The machine may be busy. */
const EVENTUALLY_MS = 120_000;

export async function eventually<T>(what: string, look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const until = performance.now() + EVENTUALLY_MS;
  while (performance.now() < until) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return assert.fail(`${what}: not within ${EVENTUALLY_MS / 1000} s`);
}

/** Stops a process and waits until none of its threads can answer any more: the signal alone comes back earlier than that. */
export async function freeze(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  const isStopped = (task: string) => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/task/${task}/status`, 'utf8'));
  await eventually(`${pid} is stopped`, () => (readdirSync(`/proc/${pid}/task`).every(isStopped) ? true : undefined));
}

export const isCoded =
  (code: string, text = /./) =>
  (error: unknown) => {
    assert.ok(error instanceof CodedError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, text);
    return true;
  };

export const bytes = (data: Uint8Array): string => Buffer.from(data).toString();
