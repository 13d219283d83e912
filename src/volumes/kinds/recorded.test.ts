/** The trees that the reference made for the recorded pods: names, modes, owners, links. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { loadLives, type RecordedLife } from '../../../tests/recorded/lives.ts';
import { testDirectory, treeOf } from '../atomic-testing.ts';
import { configMap, secret, testObjects, testVolumes } from './object-kinds-testing.ts';

const OURS = /^volumes\/kubernetes\.io~(configmap|secret|projected|downward-api)\/./;
const STAMP = /\.\.\d{4}(_\d\d){5}\.\d+/g;

function recordedTree({ files }: RecordedLife): readonly string[] {
  return (files ?? [])
    .map((columns) => columns.join(' ').replaceAll(STAMP, '..STAMP').trimEnd())
    .filter((line) => OURS.test(line))
    .sort();
}

function recordedObjects() {
  const made = testObjects();
  made.configMaps.set(
    'settings',
    configMap('settings', {
      data: { color: 'blue', 'app.conf': 'a=1\nb=2\n', 'key-1': 'v1' },
      binaryData: { blob: 'AAEC/w==' },
    }),
  );
  made.configMaps.set('kube-root-ca.crt', configMap('kube-root-ca.crt', { data: { 'ca.crt': 'PEM' } }));
  made.secrets.set('pass', secret('pass', { user: 'ada', word: 's3cret' }));
  return made.objects;
}

describe('recorded volumes', () => {
  const lives = loadLives().filter((life) => recordedTree(life).length > 0);
  assert.ok(lives.length > 30, 'the recordings are there');
  for (const life of lives) {
    test(life.name, async () => {
      await using directory = await testDirectory();
      const volumes = testVolumes(directory.path, recordedObjects());
      const { pod } = life;
      const failures: string[] = [];
      for (const volume of pod.spec.volumes ?? []) {
        if (!volumes.kinds.some((kind) => kind.handles(volume))) continue;
        await volumes
          .setUp(pod, volume.name)
          .catch((error: Error) =>
            failures.push(`MountVolume.SetUp failed for volume "${volume.name}" : ${error.message}`),
          );
      }
      const tree = (await treeOf(join(directory.path, pod.metadata.uid))).filter((line) => OURS.test(line));
      assert.deepEqual(tree, recordedTree(life));
      const recorded = life.events.filter(({ reason }) => reason === 'FailedMount').map(({ message }) => message);
      assert.deepEqual(failures, [...new Set(recorded)]);
    });
  }
});
