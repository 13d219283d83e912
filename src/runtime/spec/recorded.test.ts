/**
 * Every RunPodSandbox and CreateContainer of the recorded lives, made again from the recorded pod.
 * Environment variables and DNS options are compared as sets: the reference takes both from maps, in random order.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import {
  loadLife,
  loadLives,
  type RecordedCall,
  type RecordedLife,
  recordedMessage,
} from '../../../tests/recorded/lives.ts';
import {
  cgroupParent,
  containerInput,
  environmentInput,
  gates,
  network,
  runtimeHandlers,
  seenPod,
  settings,
  userNamespace,
} from '../../../tests/recorded/node.ts';
import type { Container } from '../../api/container.ts';
import { allContainers } from '../../api/pod-traits.ts';
import { decode } from '../../wire/decode.ts';
import { encode } from '../../wire/encode.ts';
import { CreateContainerRequest, RunPodSandboxRequest } from '../../wire/gen/cri-runtime-v1.ts';
import type { Init, MessageType } from '../../wire/message.ts';
import { makeContainerConfig } from './container.ts';
import { makeEnvironment } from './environment.ts';
import { makeSandboxConfig } from './sandbox.ts';

interface Difference {
  readonly life: string;
  readonly call: string;
  /** Where in the request, as `config.linux.resources`. */
  readonly path: string;
  readonly reason: string;
}

const differences: readonly Difference[] = JSON.parse(
  readFileSync(new URL('../../../tests/recorded/differences.json', import.meta.url), 'utf8'),
);
const used = new Set<Difference>();

const lives = loadLives();

describe('recorded requests to the runtime', () => {
  for (const life of lives) {
    for (const [index, call] of life.cri.entries()) {
      if (call.call !== 'RunPodSandbox' && call.call !== 'CreateContainer') continue;
      test(`${life.name}: call ${index}, ${call.call}`, async () => {
        if (call.call === 'RunPodSandbox') await checkSandbox(life, call);
        else checkContainer(life, call);
      });
    }
  }
  test('differences.json lists nothing that does not differ', () => {
    assert.deepEqual(
      differences.filter((difference) => !used.has(difference)),
      [],
    );
  });
});

test('recorded refusals: a missing config map, an image that would run as root', () => {
  const refusal = (name: string) => {
    const life = loadLife(name);
    const pod = seenPod(life);
    const [container] = pod.spec.containers;
    assert.ok(container !== undefined);
    const env = makeEnvironment(environmentInput(life, pod, container));
    if (env.kind === 'problem') return env.message;
    const run = { container, env: env.env, attempt: 0, imageRef: '', terminationLog: undefined };
    const made = makeContainerConfig(containerInput(life, run));
    return made.kind === 'problem' ? made.message : undefined;
  };
  for (const name of ['missing-config-map-env', 'non-root-violated']) {
    const event = loadLife(name).events.find(({ reason }) => reason === 'Failed');
    assert.equal(`Error: ${refusal(name)}`, event?.message);
  }
});

async function checkSandbox(life: RecordedLife, call: RecordedCall): Promise<void> {
  const want = recordedMessage(RunPodSandboxRequest, call.req);
  const pod = seenPod(life);
  const hostname = network.hostnameOf(pod);
  const dns = await network.dnsOf(pod);
  assert.ok(hostname.ok && dns.ok);
  const made = makeSandboxConfig({
    pod,
    attempt: 0,
    hostname: hostname.value.kernelName,
    dns: dns.value.config,
    podLogsDirectory: '$LOGS',
    cgroupParent: cgroupParent(life),
    userNamespace: userNamespace(life, pod),
    extraGroups: [],
    exclusiveCpus: false,
    settings,
    gates,
  });
  assert.ok(made.kind === 'ready');
  const runtimeHandler = runtimeHandlers[pod.spec.runtimeClassName ?? ''] ?? '';
  compare(life, call, RunPodSandboxRequest, { config: made.config, runtimeHandler }, want);
}

function checkContainer(life: RecordedLife, call: RecordedCall): void {
  const { sandbox_config: _, ...req } = call.req;
  const want = recordedMessage(CreateContainerRequest, req);
  const pod = seenPod(life);
  const container = allContainers(pod).find(({ name }) => name === want.config?.metadata?.name);
  assert.ok(container !== undefined && want.config !== undefined);
  const env = makeEnvironment(environmentInput(life, pod, container));
  assert.ok(env.kind === 'ready');
  const terminationLogs = want.config.mounts.filter(({ containerPath }) => containerPath === '/dev/termination-log');
  const run = {
    container,
    env: env.env,
    attempt: attemptOf(life, call, container),
    imageRef: want.config.image?.image ?? '',
    terminationLog: terminationLogs[0]?.hostPath,
  };
  const made = makeContainerConfig(containerInput(life, run));
  assert.ok(made.kind === 'ready', made.kind === 'problem' ? made.message : '');
  // The random part of the termination log's name is taken over; its place must still be ours.
  for (const { hostPath } of terminationLogs) {
    const directory: string = `$ROOT/pods/${pod.metadata.uid}/containers/${container.name}/`;
    assert.ok(hostPath.startsWith(directory));
    assert.match(hostPath.slice(directory.length), /^[0-9a-f]{8}$/);
  }
  compare(life, call, CreateContainerRequest, { podSandboxId: want.podSandboxId, config: made.config }, want);
}

/** How often the container was created before, as far as the recording goes. */
function attemptOf(life: RecordedLife, call: RecordedCall, container: Container): number {
  const earlier = life.cri.slice(0, life.cri.indexOf(call)).filter((candidate) => {
    if (candidate.call !== 'CreateContainer' || candidate.error !== undefined) return false;
    const { sandbox_config: _, ...req } = candidate.req;
    return recordedMessage(CreateContainerRequest, req).config?.metadata?.name === container.name;
  });
  return earlier.length;
}

function compare<T>(life: RecordedLife, call: RecordedCall, type: MessageType<T>, made: Init<T>, want: T): void {
  // Encoded and decoded, so that what is compared is what goes over the wire.
  const ours = comparable(decode(type, encode(type, made)));
  const theirs = comparable(want);
  for (const difference of differences.filter((item) => item.life === life.name && item.call === call.call)) {
    const [left, right] = [valueAt(ours, difference.path), valueAt(theirs, difference.path)];
    if (isSame(left, right)) continue;
    used.add(difference);
    setAt(ours, difference.path, right);
  }
  assert.deepEqual(ours, theirs);
}

type Json = { [key: string]: unknown };

/** A copy in which what has no order is sorted and bytes are text. */
function comparable(message: unknown): Json {
  const copy = JSON.parse(
    JSON.stringify(message, (_key, value: unknown) => (value instanceof Uint8Array ? undefined : value)),
    (_key, value) => value,
  ) as Json;
  const request = message as {
    config?: { envs?: readonly { key: string; value: Uint8Array }[]; dnsConfig?: { options: readonly string[] } };
  };
  const config = copy['config'] as Json | undefined;
  if (config === undefined) return copy;
  const { envs, dnsConfig } = request.config ?? {};
  if (envs !== undefined)
    config['envs'] = envs.map(({ key, value }) => `${key}=${new TextDecoder().decode(value)}`).sort();
  if (dnsConfig !== undefined) config['dnsConfig'] = { ...dnsConfig, options: [...dnsConfig.options].sort() };
  return copy;
}

function valueAt(message: Json, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (value as Json | undefined)?.[key], message);
}

function setAt(message: Json, path: string, value: unknown): void {
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  const owner = keys.length === 0 ? message : (valueAt(message, keys.join('.')) as Json);
  owner[last] = value;
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
