/** Pods with devices of upstream's sample plugin: what containers get, who has what after a kill, and what monitoring agents are told. */
import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createSystemClock } from '../../src/base/clock.ts';
import { decodeCheckpoint } from '../../src/devices/rules/checkpoint.ts';
import { PodResourcesLister } from '../../src/wire/gen/pod-resources-v1.ts';
import { createGrpcClient } from '../../src/wire/grpc-client.ts';
import { createSupplies } from '../lab/supplies.ts';
import { never, type PodNode, podNode, stays, until } from './pod-support.ts';

const RESOURCE = 'example.com/resource';
const LONG = 120_000;
const devices = (count: number) => ({
  resources: { limits: { [RESOURCE]: String(count) }, requests: { [RESOURCE]: String(count) } },
});
const spec = (count: number) => ({ terminationGracePeriodSeconds: 1, containers: [stays('main', devices(count))] });

async function checkpointOf({ node }: PodNode) {
  const path = join(node.kubeletDirectory, 'device-plugins', 'kubelet_internal_checkpoint');
  const text = await readFile(path, 'utf8').catch(() => '');
  const checkpoint = decodeCheckpoint(text);
  return checkpoint.ok ? checkpoint.value : undefined;
}

const listed = (place: PodNode) =>
  until(
    'the plugin has listed its devices',
    async () => ((await checkpointOf(place))?.registered.get(RESOURCE)?.length === 2 ? true : undefined),
    LONG,
  );

const owners = async (place: PodNode): Promise<ReadonlyMap<string, readonly string[]>> =>
  new Map((await checkpointOf(place))?.entries.map((entry) => [entry.podUid, Object.values(entry.devices).flat()]));

async function mountsOf(place: PodNode, pod: string): Promise<readonly string[]> {
  const status = await place.running(pod, 'main');
  return status.mounts.map(({ containerPath }) => containerPath).filter((path) => path.startsWith('/tmp/Dev-'));
}

async function asksPodResources({ node }: PodNode) {
  const client = createGrpcClient({
    endpoint: join(node.kubeletDirectory, 'pod-resources', 'kubelet.sock'),
    clock: createSystemClock(),
  });
  try {
    const options = { signal: never, deadline: 60_000 };
    const { podResources } = await client.unary(PodResourcesLister.list, {}, options);
    const { devices: all } = await client.unary(PodResourcesLister.getAllocatableResources, {}, options);
    return { pods: podResources, all: all.flatMap(({ deviceIds }) => deviceIds).toSorted() };
  } finally {
    await client.close();
  }
}

test('devices of the sample plugin', async (t) => {
  const { 'sample-device-plugin': program } = await createSupplies(process.env).ensure('sample-device-plugin');
  const place = await podNode(t);
  const start = (name: string) =>
    place.node.start({ name, argv: [program], env: { PLUGIN_SOCK_DIR: '/var/lib/kubelet/device-plugins' } });
  const plugin = await start('sample-plugin');
  await listed(place);

  await t.test('are mounted into the container, and monitoring agents see them', async () => {
    await place.write('one', spec(1));
    const [mount = ''] = await mountsOf(place, 'one');
    assert.match(mount, /^\/tmp\/Dev-[12]$/);
    const { pods, all } = await asksPodResources(place);
    assert.deepEqual(all, ['Dev-1', 'Dev-2']);
    const own = pods.flatMap(({ containers }) => containers.flatMap((container) => container.devices));
    assert.deepEqual(
      own.map(({ resourceName, deviceIds }) => [resourceName, deviceIds]),
      [[RESOURCE, [mount.slice('/tmp/'.length)]]],
    );
  });

  await t.test('are not given to a pod that requests more than are left', async () => {
    const manifest = await place.write('greedy', spec(2));
    // A static pod is critical: others would be ended for it, but those have nothing to give.
    const lacking = /no set of running pods found to reclaim resources: \[\(res: example.com\/resource, q: 1\), \]/;
    await place.untilEvent('greedy', lacking);
    await rm(manifest);
  });

  await t.test('stay with their containers when the kubelet is killed', async () => {
    const before = await owners(place);
    assert.equal(before.size, 1);
    const { id } = await place.running('one', 'main');
    await place.node.kubelet.kill();
    await place.node.kubelet.start();
    assert.deepEqual(await owners(place), before);
    // The sample plugin sees the new socket of the kubelet and registers again.
    await place.write('two', spec(1));
    const [mount = ''] = await mountsOf(place, 'two');
    assert.ok(![...before.values()].flat().includes(mount.slice('/tmp/'.length)), mount);
    assert.equal((await place.running('one', 'main')).id, id, 'it was not started again');
  });

  await t.test('are waited for while the plugin is away', async () => {
    await plugin.stop();
    await rm(join(place.node.manifestsDirectory, 'two.yaml'));
    await place.gone('two');
    await place.write('late', spec(1));
    await place.untilEvent('late', /WaitingForDevicePlugin/);
    await start('sample-plugin-again');
    assert.equal((await mountsOf(place, 'late')).length, 1);
  });
});
