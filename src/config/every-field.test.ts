import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completeConfiguration } from './file/complete.ts';
import { decodeKubeletConfiguration } from './file/decode.ts';
import { renderKubeletConfiguration } from './schema/configz.ts';
import type { Kind } from './schema/kinds.ts';
import { kubeletConfiguration } from './schema/kubelet-configuration.ts';

type Leaf = { readonly path: readonly string[]; readonly sample: unknown };

/** A value of that kind, in the form of a file, that is no default. */
function sampleOf(type: Kind, fallback: unknown): unknown {
  switch (type.kind) {
    case 'bool':
      return fallback !== true;
    case 'int':
      return typeof fallback === 'number' ? fallback + 7 : 7;
    case 'float':
      return 0.25;
    case 'string':
      return type.isPath ? '/sample' : 'sample';
    case 'duration':
      return '7m7s';
    case 'quantity':
      return '7Mi';
    case 'list':
      return [sampleOf(type.item, undefined)];
    case 'map':
      return { sample: sampleOf(type.item, undefined) };
    case 'struct':
      return Object.fromEntries(
        Object.entries(type.fields).map(([name, field]) => [name, sampleOf(field.type, undefined)]),
      );
  }
}

function leavesOf(type: Kind, fallback: unknown, path: readonly string[]): Leaf[] {
  if (type.kind !== 'struct') return [{ path, sample: sampleOf(type, fallback) }];
  return Object.entries(type.fields).flatMap(([name, field]) => leavesOf(field.type, field.fallback, [...path, name]));
}

function nest(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
}

function valueAt(tree: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => Object(at)[name], tree);
}

const head = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };

for (const { path, sample } of leavesOf(kubeletConfiguration, undefined, [])) {
  const file = JSON.stringify({ ...head, ...Object(nest(path, sample)) });
  for (const kind of ['file', 'dropin'] as const) {
    test(`${path.join('.')} can be set in a ${kind} and shows in configz`, () => {
      const decoded = decodeKubeletConfiguration([{ path: '/k.json', text: file, kind }], { strict: true });
      assert.deepEqual([decoded.problems, decoded.warnings], [[], []]);
      assert.deepEqual(valueAt(renderKubeletConfiguration(completeConfiguration(decoded)), path), sample);
      assert.equal(decoded.originOf(path.join('.')), '/k.json:1');
    });
  }
}
