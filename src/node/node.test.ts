import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KubeNode, nodeCondition } from '../api/node.ts';
import { quantityFromUnits } from '../api/quantity.ts';
import { CodedError } from '../base/errors.ts';
import { createSilentLogger, type Logger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import type { EventText } from '../model/event.ts';
import type { StatusResponse } from '../wire/gen/cri-runtime-v1.ts';
import { createAddressBook } from './address-book.ts';
import { createFakeApi } from './api-testing.ts';
import { createNode, type NodeConfig, type NodeFacts } from './node.ts';

const START = Date.parse('2026-11-15T10:00:00Z');
const FREE = { memory: false, disk: false, pid: false };

const settle = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

function setUp(change: Partial<NodeConfig> = {}) {
  const clock = createManualClock(START);
  const api = createFakeApi();
  const events: EventText[] = [];
  const cidrs: string[] = [];
  const lines: string[] = [];
  const write = (message: string) => void lines.push(message);
  const log: Logger = { ...createSilentLogger(), info: write, warn: write, error: write, named: () => log };
  const runtime = { up: true, network: true };
  const facts = { pressure: FREE, problems: { parts: [] as string[], storage: undefined, shutdown: undefined } };
  const condition = (type: string, status: boolean) => ({ type, status, reason: 'Why', message: 'because' });
  const status = (): Promise<StatusResponse> =>
    runtime.up
      ? Promise.resolve({
          status: { conditions: [condition('RuntimeReady', true), condition('NetworkReady', runtime.network)] },
          info: {},
          runtimeHandlers: [],
          features: undefined,
        })
      : Promise.reject(new CodedError('unavailable', 'no runtime'));
  const addresses = createAddressBook(
    {
      clock,
      supervisor: createTestSupervisor(clock),
      network: {
        interfaces: () => [{ name: 'e', up: true, loopback: false, addresses: ['192.0.2.10'] }],
        routes: () => [{ family: 4, interface: 'e' }],
        resolve: () => Promise.resolve([]),
      },
    },
    { nodeName: 'web', hostname: 'web', flagIps: ['192.0.2.10'], externalCloud: false },
  );
  const capacity = new Map(
    ['cpu', 'memory', 'pods', 'ephemeral-storage'].map((name) => [name, quantityFromUnits(2n, 'decimal')]),
  );
  const nodeFacts: NodeFacts = {
    machine: () => ({
      machineId: 'm',
      systemUuid: 's',
      bootId: 'b',
      kernelVersion: 'k',
      osImage: 'o',
      architecture: 'amd64',
      swap: 0,
    }),
    capacity: () => capacity,
    allocatable: () => capacity,
    pressure: () => facts.pressure,
    problems: () => facts.problems,
    volumesInUse: () => undefined,
  };
  const node = createNode(
    {
      clock,
      supervisor: createTestSupervisor(clock),
      log,
      random: () => 0.5,
      kube: api.kube,
      runtime: {
        status,
        version: () => Promise.resolve({ runtimeName: 'containerd', runtimeVersion: 'v2.4.2' }),
        setPodCidr: (cidr) => {
          cidrs.push(cidr);
          return Promise.resolve();
        },
        listImages: () => Promise.resolve([]),
      },
      record: ({ type, reason, message }) => void events.push({ type, reason, message }),
      addresses,
      facts: nodeFacts,
    },
    {
      identity: {
        name: 'web',
        hostname: 'web',
        architecture: 'amd64',
        labels: {},
        taints: [],
        externalCloud: false,
        providerId: '',
        controllerAttaches: true,
      },
      registerNode: true,
      getOnExistsOnly: false,
      updateFrequency: 10_000,
      reportFrequency: 300_000,
      leaseDurationSeconds: 40,
      kubeletPort: 10250,
      kubeletVersion: 'v1.36.4',
      mostImages: 50,
      declaredFeatures: undefined,
      localStorage: true,
      cgroupVersion: 2,
      ...change,
    },
  );
  const life = new AbortController();
  const patches = () =>
    api.requests.filter(({ method, path }) => method === 'PATCH' && path.endsWith('/status')).length;
  return {
    api,
    clock,
    events,
    reasons: () => events.map(({ reason }) => reason),
    cidrs,
    lines,
    runtime,
    facts,
    node,
    patches,
    ready: () => nodeCondition(api.node(), 'Ready'),
    start: async () => {
      addresses.start(life.signal);
      await node.start(life.signal);
      await settle();
    },
    wait: async (ms: number) => {
      await clock.advance(ms);
      await settle();
    },
    stop: async () => {
      life.abort('the test is over');
      await node.stop?.();
    },
  };
}

const FIRST_EVENTS = ['Starting', 'NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID'];

describe('a node', () => {
  it('is Ready at the API server with its first request, and its lease follows', async () => {
    const world = setUp();
    await world.start();
    assert.equal(world.api.requests[0]?.method, 'POST');
    assert.equal(world.ready()?.status, 'True');
    assert.deepEqual(world.reasons(), [...FIRST_EVENTS, 'NodeReady']);
    assert.equal(world.api.lease()?.metadata.ownerReferences?.[0]?.uid, 'uid-1');
    assert.equal(world.node.object()?.metadata.uid, 'uid-1');
    await world.stop();
  });

  it('on cgroup v1 records a warning', async () => {
    const world = setUp({ cgroupVersion: 1 });
    await world.start();
    assert.deepEqual(world.reasons().slice(0, 2), ['Starting', 'CgroupV1']);
    await world.stop();
  });

  it('writes an unchanged status only at its report frequency', async () => {
    const world = setUp();
    await world.start();
    const before = world.patches();
    await world.wait(140_000);
    assert.equal(world.patches(), before);
    await world.wait(170_000);
    assert.equal(world.patches(), before + 1);
    assert.equal(world.ready()?.lastTransitionTime, '2026-11-15T10:00:00Z');
    assert.notEqual(world.ready()?.lastHeartbeatTime, '2026-11-15T10:00:00Z');
    await world.stop();
  });

  it('renews its lease four times within its duration, without reading it', async () => {
    const world = setUp();
    await world.start();
    const renewals = () =>
      world.api.requests.filter(({ method, path }) => method === 'PUT' && path.includes('/leases')).length;
    await world.wait(41_000);
    assert.equal(renewals(), 4);
    assert.equal(
      world.api.requests.filter(({ method, path }) => method === 'GET' && path.includes('/leases')).length,
      1,
    );
    assert.equal(world.api.lease()?.spec?.holderIdentity, 'web');
    await world.stop();
  });

  it('registers again after it was deleted, with a new lease', async () => {
    const world = setUp();
    await world.start();
    world.api.deleteNode();
    await settle();
    assert.equal(world.api.node()?.metadata.uid, 'uid-2');
    assert.equal(world.ready()?.status, 'True');
    assert.equal(world.api.lease()?.metadata.ownerReferences?.[0]?.uid, 'uid-2');
    await world.stop();
  });

  it('creates its lease again after it was deleted', async () => {
    const world = setUp();
    await world.start();
    world.api.putLease(undefined);
    await world.wait(10_500);
    assert.equal(world.api.lease()?.spec?.holderIdentity, 'web');
    await world.stop();
  });

  it('updates an existing node once, and keeps the fields of others', async () => {
    const world = setUp();
    world.api.putNode({
      metadata: { name: 'web', uid: 'old', labels: { mark: 'x' }, annotations: {} },
      spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] },
      status: { capacity: { 'example.com/gpu': '1' } },
    });
    await world.start();
    const node = world.api.node();
    assert.equal(node?.metadata.uid, 'old');
    assert.equal(node.metadata.labels?.['mark'], 'x');
    assert.equal(node.metadata.labels?.['kubernetes.io/hostname'], 'web');
    assert.deepEqual(node.spec?.taints, [{ key: 'k', effect: 'NoSchedule' }]);
    assert.equal(node.status?.capacity?.['example.com/gpu'], '0', 'counted on another machine');
    assert.equal(world.ready()?.status, 'True');
    await world.stop();
  });

  it('that was Ready before a restart records no event', async () => {
    const world = setUp();
    await world.start();
    const known = world.api.node() as KubeNode;
    await world.stop();
    const again = setUp();
    again.api.putNode(known);
    await again.start();
    assert.deepEqual(again.reasons(), FIRST_EVENTS);
    await again.stop();
  });

  it('reports a reboot once', async () => {
    const world = setUp();
    await world.start();
    const known = world.api.node() as KubeNode;
    await world.stop();
    const again = setUp();
    const nodeInfo = { ...known.status?.nodeInfo, bootID: 'before' } as never;
    again.api.putNode({ ...known, status: { ...known.status, nodeInfo } });
    await again.start();
    assert.deepEqual(
      again.events.filter(({ reason }) => reason === 'Rebooted'),
      [{ type: 'Warning', reason: 'Rebooted', message: 'Node web has been rebooted, boot id: b' }],
    );
    await again.stop();
  });

  it('is not Ready after its runtime was down for 30 s, and Ready as soon as it answers again', async () => {
    const world = setUp();
    await world.start();
    world.runtime.up = false;
    await world.wait(29_000);
    assert.equal(world.ready()?.status, 'True');
    await world.wait(8000);
    assert.equal(world.ready()?.status, 'False');
    assert.equal(world.ready()?.message, 'container runtime is down');
    world.runtime.up = true;
    await world.wait(1100);
    assert.equal(world.ready()?.status, 'True');
    assert.deepEqual(world.reasons().slice(-2), ['NodeNotReady', 'NodeReady']);
    await world.stop();
  });

  it('is not Ready without a network, and reports the change at once after the start', async () => {
    const world = setUp();
    world.runtime.network = false;
    await world.start();
    assert.equal(
      world.ready()?.message,
      'container runtime network not ready: NetworkReady=false reason:Why message:because',
    );
    assert.deepEqual(world.reasons(), FIRST_EVENTS);
    world.runtime.network = true;
    await world.wait(250);
    assert.equal(world.ready()?.status, 'True');
    assert.equal(world.reasons().at(-1), 'NodeReady');
    await world.stop();
  });

  it('reports pressure when an update is requested', async () => {
    const world = setUp();
    await world.start();
    world.facts.pressure = { ...FREE, disk: true };
    world.node.requestUpdate();
    await settle();
    assert.equal(nodeCondition(world.api.node(), 'DiskPressure')?.status, 'True');
    assert.equal(world.reasons().at(-1), 'NodeHasDiskPressure');
    await world.stop();
  });

  it('reports at once when the control plane has marked it as unreachable', async () => {
    const world = setUp();
    await world.start();
    const known = world.api.node() as KubeNode;
    const conditions = (known.status?.conditions ?? []).map((each) => ({ ...each, status: 'Unknown' as const }));
    world.api.putNode({ ...known, status: { ...known.status, conditions } });
    await settle();
    assert.equal(world.ready()?.status, 'True');
    await world.stop();
  });

  it('passes its pod CIDR on to the runtime, once', async () => {
    const world = setUp();
    await world.start();
    world.api.putNode({ ...(world.api.node() as KubeNode), spec: { podCIDRs: ['10.1.0.0/24', 'fd00::/64'] } });
    await world.wait(30_000);
    assert.deepEqual(world.cidrs, ['10.1.0.0/24,fd00::/64']);
    await world.stop();
  });

  it('records events when it is cordoned and uncordoned', async () => {
    const world = setUp();
    await world.start();
    for (const unschedulable of [true, false]) {
      world.api.putNode({ ...(world.api.node() as KubeNode), spec: { unschedulable } });
      await world.wait(11_000);
    }
    assert.deepEqual(world.reasons().slice(-2), ['NodeNotSchedulable', 'NodeSchedulable']);
    await world.stop();
  });
});

describe('without an API server', () => {
  it('the node retries, and at once after the outage', async () => {
    const world = setUp();
    world.api.refuse('/');
    await world.start();
    await world.wait(60_000);
    const attempts = world.api.requests.filter(
      ({ method, path }) => method === 'POST' && path.endsWith('/nodes'),
    ).length;
    assert.ok(attempts > 8 && attempts < 16, `${attempts} attempts in a minute`);
    world.api.refuse(undefined);
    world.api.back();
    await settle();
    assert.equal(world.ready()?.status, 'True');
    assert.deepEqual(world.reasons(), [...FIRST_EVENTS, 'NodeReady'], 'said once, however often it was tried');
    await world.stop();
  });

  it('the node waits quietly for its client certificate, and registers as soon as it is there', async () => {
    const world = setUp();
    world.api.awaitsCertificate = true;
    await world.start();
    await world.wait(600_000);
    assert.deepEqual(world.api.requests, []);
    assert.deepEqual(
      world.lines.filter((line) => /regist/i.test(line)),
      ['Node will be registered when its client certificate is issued'],
    );
    world.api.awaitsCertificate = false;
    world.api.back();
    await settle();
    assert.equal(world.ready()?.status, 'True');
    await world.stop();
  });

  it('repeated failures of heartbeats close the connection', async () => {
    const world = setUp();
    await world.start();
    world.api.refuse('/');
    await world.wait(11_000);
    assert.match(world.api.reconnects.join(), /lease/);
    world.facts.pressure = { ...FREE, memory: true };
    await world.wait(11_000);
    assert.match(world.api.reconnects.join(), /node status/);
    world.api.refuse(undefined);
    world.api.back();
    await settle();
    assert.equal(nodeCondition(world.api.node(), 'MemoryPressure')?.status, 'True');
    await world.stop();
  });
});

describe('a node without the necessary permissions', () => {
  it('reports whose credentials it has', async () => {
    const world = setUp();
    world.api.user = 'system:node:old';
    world.api.refuse('/api/v1/nodes', 'denied');
    await world.start();
    const warning = world.events.find(({ reason }) => reason === 'WrongCredentials');
    assert.match(warning?.message ?? '', /are those of node "old".*"web"/);
    await world.wait(60_000);
    assert.equal(world.reasons().filter((reason) => reason === 'WrongCredentials').length, 1);
    await world.stop();
  });

  it('uses an existing node if it may not create one', async () => {
    const world = setUp();
    world.api.putNode({ metadata: { name: 'web', uid: 'made-by-admin' } });
    world.api.refuse('POST /api/v1/nodes', 'denied');
    await world.start();
    assert.equal(world.ready()?.status, 'True');
    await world.stop();
  });

  it('waits for a node that others create if registerNode is false', async () => {
    const world = setUp({ registerNode: false });
    await world.start();
    assert.equal(world.api.requests.length, 0);
    world.api.putNode({ metadata: { name: 'web', uid: 'made-by-admin' } });
    await settle();
    assert.equal(world.ready()?.status, 'True');
    world.api.deleteNode();
    await world.wait(60_000);
    assert.equal(world.api.node(), undefined);
    await world.stop();
  });
});

describe('an event is recorded if', () => {
  it('another kubelet writes the status', async () => {
    const world = setUp();
    await world.start();
    const known = world.api.node() as KubeNode;
    const nodeInfo = { ...known.status?.nodeInfo, bootID: 'other' } as never;
    world.api.putNode({ ...known, status: { ...known.status, nodeInfo } });
    await settle();
    assert.match(world.events.find(({ reason }) => reason === 'NodeNameConflict')?.message ?? '', /boot id other/);
    await world.stop();
  });

  it('another kubelet renews the lease', async () => {
    const world = setUp();
    await world.start();
    const lease = world.api.lease();
    assert.ok(lease);
    world.api.putLease({ ...lease, spec: { ...lease.spec, renewTime: 'at another time' } });
    await world.wait(10_500);
    assert.match(world.events.find(({ reason }) => reason === 'NodeLeaseConflict')?.message ?? '', /at another time/);
    assert.notEqual(world.api.lease()?.spec?.renewTime, 'at another time', 'and it goes on');
    await world.stop();
  });

  it('the clock is wrong, but not again every ten seconds', async () => {
    const world = setUp();
    world.api.setServerDate({ serverAt: START, ownAt: START + 60_000 });
    await world.start();
    await world.wait(120_000);
    const found = world.events.filter(({ reason }) => reason === 'ClockSkew');
    assert.deepEqual(
      found.map(({ type, message }) => [type, /1m0s ahead of the API server's/.test(message)]),
      [['Warning', true]],
    );
    await world.stop();
  });
});
