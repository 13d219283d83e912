import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../api/pod.ts';
import type { DownwardApiVolumeFile } from '../../api/volume.ts';
import { downwardPayload } from './downward-payload.ts';

const text = new TextDecoder();
const pod: Pod = {
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid: 'u-1',
    labels: { tier: 'x', a: 'b "c"' },
    annotations: { 'example.com/Note': 'line\nnext' },
  },
  spec: {
    containers: [{ name: 'c', resources: { limits: { memory: '32Mi' }, requests: { cpu: '250m' } } }],
    initContainers: [{ name: 'i' }],
  },
};

function read(...items: readonly DownwardApiVolumeFile[]): readonly string[] | string {
  const made = downwardPayload({
    pod,
    items,
    defaultMode: 0o644,
    nodeAllocatable: { cpu: '4', memory: '1Gi' },
    podLevel: true,
  });
  if (!made.ok) return made.problem;
  return Array.from(made.value, ([path, { data, mode }]) => `${path} ${mode.toString(8)} ${text.decode(data)}`);
}
const field = (fieldPath: string) => ({ path: 'f', fieldRef: { fieldPath } });
const resource = (containerName: string, name: string, divisor?: string) => ({
  path: 'r',
  resourceFieldRef: { containerName, resource: name, ...(divisor !== undefined && { divisor }) },
});

describe('what the downward API shows of a pod', () => {
  const cases: readonly (readonly [string, readonly DownwardApiVolumeFile[], readonly string[] | string])[] = [
    ['labels', [field('metadata.labels')], ['f 644 a="b \\"c\\""\ntier="x"']],
    ['annotations', [field('metadata.annotations')], ['f 644 example.com/Note="line\\nnext"']],
    ['one label', [field("metadata.labels['tier']")], ['f 644 x']],
    ['a label that is not there', [field("metadata.labels['none']")], ['f 644 ']],
    [
      'name, namespace, uid',
      ['name', 'namespace', 'uid'].map((key) => ({ ...field(`metadata.${key}`), path: key })),
      ['name 644 web', 'namespace 644 shop', 'uid 644 u-1'],
    ],
    ['a mode of its own', [{ ...field('metadata.name'), mode: 0o400 }], ['f 400 web']],
    ['a limit in units', [resource('c', 'limits.memory', '1Mi')], ['r 644 32']],
    ['a request, rounded up', [resource('c', 'requests.cpu')], ['r 644 1']],
    ['no limit: what the node has', [resource('c', 'limits.cpu')], ['r 644 4']],
    ['addresses are not known yet', [field('status.podIP')], 'unsupported fieldPath: status.podIP'],
    ['no such field', [field('metadata.generation')], 'unsupported fieldPath: metadata.generation'],
    ['no subscripts there', [field("spec.x['y']")], 'fieldPath "spec.x[\'y\']" does not support subscript'],
    ['no such container', [resource('z', 'limits.cpu')], 'container z not found'],
    ['two problems', [field('x'), resource('z', 'limits.cpu')], '[unsupported fieldPath: x, container z not found]'],
    ['no items', [], []],
  ];
  for (const [name, items, expected] of cases) test(name, () => assert.deepEqual(read(...items), expected));
});
