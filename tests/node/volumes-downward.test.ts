/** What a pod is told of itself, in files, without any API server; and what the kubelet counts of its volumes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podNode, runs } from './pod-support.ts';
import { kubeletClient } from './streams-support.ts';
import { atLeast, finished, mountsIn, podUidOf, readLog } from './volumes-support.ts';

const field = (path: string, fieldPath: string, more: object = {}) => ({ path, fieldRef: { fieldPath }, ...more });
const labels = field('labels', 'metadata.labels');

test('downward API volumes of a static pod', async (t) => {
  const place = await podNode(t, { config: { volumeStatsAggPeriod: '1s' } });
  const kubelet = kubeletClient(place.node);
  const script = `
    id -u; for f in /d/labels /d/sub/note /d/mem /p/name /p/labels; do echo "$f $(stat -Lc '%a %u:%g' $f) $(cat $f | tr '\\n' ';')"; done
    ls -A /d; touch /d/x 2>&1; echo done; exec sleep 1000`;
  const limits = { memory: '32Mi', cpu: '1' };
  const volumeMounts = ['d', 'p'].map((name) => ({ name, mountPath: `/${name}` }));
  const file = await place.write(
    'told',
    {
      terminationGracePeriodSeconds: 1,
      securityContext: { runAsUser: 1000, fsGroup: 3000 },
      containers: [runs('c', script, { volumeMounts, resources: { limits } })],
      volumes: [
        {
          name: 'd',
          downwardAPI: {
            items: [
              labels,
              field('sub/note', "metadata.annotations['note']", { mode: 0o400 }),
              { path: 'mem', resourceFieldRef: { containerName: 'c', resource: 'limits.memory', divisor: '1Mi' } },
            ],
          },
        },
        { name: 'p', projected: { sources: [{ downwardAPI: { items: [labels, field('name', 'metadata.name')] } }] } },
      ],
    },
    { labels: { b: '2', a: '1' }, annotations: { note: 'of mine' } },
  );
  await place.running('told', 'c');
  const log = await readLog(place, 'told', 'c', 'done');
  assert.match(log, /\/d\/labels 644 0:3000 a="1";b="2"/);
  assert.match(log, /\/d\/sub\/note 440 0:3000 of mine/);
  assert.match(log, /\/d\/mem 644 0:3000 32/);
  assert.match(log, new RegExp(`/p/name 644 0:3000 told-${place.node.nodeName}`));
  assert.match(log, /Read-only file system/);
  const mounted = await mountsIn(place, await podUidOf(place, 'told'));
  assert.equal(mounted.filter((line) => / - tmpfs tmpfs rw,size=32768k/.test(line)).length, 2, mounted.join('\n'));

  const plugins = ['kubernetes.io/downward-api', 'kubernetes.io/projected'];
  for (const plugin of plugins) {
    for (const operation of ['verify_controller_attached_volume', 'volume_apply_access_control', 'volume_mount']) {
      const labels = `operation_name="${operation}",status="success",volume_plugin="${plugin}"`;
      await atLeast(kubelet, `storage_operation_duration_seconds_count{migrated="false",${labels}}`, 1);
    }
    await atLeast(
      kubelet,
      `volume_operation_total_seconds_count{operation_name="overall_volume_mount",plugin_name="${plugin}"}`,
      1,
    );
    for (const state of ['desired', 'actual']) {
      await atLeast(
        kubelet,
        `volume_manager_total_volumes{plugin_name="${plugin}",state="${state}_state_of_world"}`,
        1,
      );
    }
  }
  await atLeast(kubelet, 'kubelet_volume_metric_collection_duration_seconds_count{metric_source="du"}', 4);

  await place.node.kubelet.kill();
  await place.node.kubelet.start();
  await place.running('told', 'c');
  assert.deepEqual(await mountsIn(place, await podUidOf(place, 'told')), mounted, 'a restart mounts nothing again');
  await atLeast(kubelet, 'reconstruct_volume_operations_total', 2);
  await atLeast(kubelet, 'kubelet_volume_metric_collection_duration_seconds_count{metric_source="du"}', 2);
  await finished(place, 'told', file);
  const unmounts = 'operation_name="volume_unmount",status="success",volume_plugin="kubernetes.io/projected"';
  await atLeast(kubelet, `storage_operation_duration_seconds_count{migrated="false",${unmounts}}`, 1);
  assert.deepEqual(await mountsIn(place, 'kubernetes.io~'), []);
});

/** Waits until the page of metrics has the series with such a value. */
