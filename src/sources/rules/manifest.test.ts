import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FieldKind, StructKind } from '../../api/object-schema.ts';
import { DEFAULT_POD_GATES } from '../../api/pod-gates.ts';
import { POD } from '../../api/pod-schema.ts';
import { type ManifestReading, type ManifestRules, readManifest } from './manifest.ts';

const rules: ManifestRules = {
  source: 'file',
  nodeName: 'node1',
  preventApiReferences: true,
  gates: DEFAULT_POD_GATES,
  hash: (text) => createHash('sha256').update(text).digest('hex'),
};

function read(text: string): ManifestReading {
  const steps = readManifest(text, rules);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

const problemsOf = (text: string) =>
  read(text).problems.map(({ place, text: words }) => `${place.line}:${place.column} ${words}`);

for (const { name, text, problems } of [
  { name: 'nothing', text: '', problems: ['1:1 empty; there must be a Pod, a PodList or a List'] },
  { name: 'a word', text: 'hello', problems: ['1:1 must be a Pod; found the string "hello"'] },
  { name: 'no kind', text: 'apiVersion: v1\n', problems: ['1:1 kind: missing; must be Pod, PodList or List'] },
  ...['creationTimestamp', 'deletionTimestamp'].map((field) => ({
    name: `a ${field} that is no time`,
    text: `kind: Pod\napiVersion: v1\nmetadata:\n  name: a\n  ${field}: soon\nspec:\n  containers: [{name: c, image: i}]\n`,
    problems: [
      `5:${field.length + 5} metadata.${field}: must be a time, such as 2026-01-02T15:04:05Z; found the string "soon"`,
    ],
  })),
  { name: 'no version', text: 'kind: Pod\n', problems: ['1:1 apiVersion: missing; must be v1'] },
  {
    name: 'another version',
    text: 'kind: Pod\napiVersion: v2\n',
    problems: ['2:13 apiVersion: must be v1; found the string "v2"'],
  },
  {
    name: 'another kind in a List',
    text: 'kind: List\napiVersion: v1\nitems:\n- kind: Service\n  apiVersion: v1\n',
    problems: ['4:9 kind: must be Pod, PodList or List; found the string "Service"'],
  },
  {
    name: 'items that are no list',
    text: 'kind: PodList\napiVersion: v1\nitems: {}\n',
    problems: ['3:8 items: must be a list'],
  },
  {
    name: 'a pod without anything',
    text: 'kind: Pod\napiVersion: v1\n',
    problems: ['1:1 metadata.name: Required value: name is needed for the pod', '1:1 spec.containers: Required value'],
  },
  {
    name: 'a number for a name',
    text: 'kind: Pod\napiVersion: v1\nmetadata: {name: 5}\n',
    problems: ['3:18 metadata.name: must be a string, in quotes if need be; found 5'],
  },
  { name: 'an empty list', text: 'kind: List\napiVersion: v1\nitems: []\n', problems: [] },
  { name: 'a list of nothing', text: 'kind: List\napiVersion: v1\n', problems: [] },
]) {
  test(`manifest: ${name}`, () => assert.deepEqual(problemsOf(text), problems));
}

/** Something of the right kind, mostly, with much of it missing. */
function anyOf(kind: FieldKind, depth: number): fc.Arbitrary<unknown> {
  const odd = { weight: 1, arbitrary: fc.constantFrom<unknown>(null, 0, '', [], {}, 'x', -1, true) };
  const fits = (arbitrary: fc.Arbitrary<unknown>) => fc.oneof({ weight: 30, arbitrary }, odd);
  switch (kind.kind) {
    case 'string':
      return fits(
        fc.constantFrom(
          'a',
          '',
          'A b',
          'v1',
          'Always',
          'In',
          'Exists',
          '../x',
          '1.2.3.4',
          'v',
          'c',
          "metadata.labels['a']",
        ),
      );
    case 'bool':
      return fits(fc.boolean());
    case 'int32':
    case 'int64':
      return fits(fc.constantFrom(0, 1, -1, 80, 65536));
    case 'quantity':
      return fits(fc.constantFrom('1', '-1', '1Gi', '500m', '3Mi'));
    case 'intOrString':
      return fits(fc.constantFrom<unknown>(80, 'http', ''));
    case 'time':
      return fits(fc.constantFrom('2026-01-02T03:04:05Z', 'soon', ''));
    case 'anything':
      return fc.jsonValue();
    case 'list':
      return fits(depth <= 0 ? fc.constant([]) : fc.array(anyOf(kind.item, depth - 1), { maxLength: 2 }));
    case 'map':
      return fits(
        fc.dictionary(
          fc.constantFrom('cpu', 'a', 'bad key', 'hugepages-2Mi', 'example.com/x'),
          anyOf(kind.item, depth - 1),
          { maxKeys: 2 },
        ),
      );
    case 'struct':
      return fits(depth <= 0 ? fc.constant({}) : anyStruct(kind, depth - 1));
  }
}

function anyStruct(kind: StructKind, depth: number): fc.Arbitrary<object> {
  const fields = Object.entries(kind.fields).map(([name, field]) => [name, anyOf(field, depth)] as const);
  // A few fields at a time: all at once is always wrong in the first place.
  return fc
    .subarray(fields, { maxLength: Math.min(5, fields.length) })
    .chain((some) => fc.record(Object.fromEntries(some)));
}

test('manifest: no pod, however wrong, makes it throw; and no good one is without its identity', () => {
  const { spec, metadata } = POD.fields;
  assert.ok(spec?.kind === 'struct' && metadata?.kind === 'struct');
  const pods = fc.record({ spec: anyStruct(spec, 7), containers: fc.boolean(), metadata: anyStruct(metadata, 3) });
  let good = 0;
  fc.assert(
    fc.property(pods, (pod) => {
      const text = JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { ...pod.metadata, name: 'a', namespace: 'b' },
        spec: { ...pod.spec, ...(pod.containers ? { containers: [{ name: 'c', image: 'x' }] } : {}) },
      });
      const reading = read(text);
      assert.equal(reading.pods.length, reading.problems.length === 0 ? 1 : 0);
      good += reading.pods.length;
      for (const { metadata: named } of reading.pods) assert.match(named.uid, /^[A-Za-z0-9-]{1,63}$/);
    }),
    { numRuns: 400 },
  );
  assert.ok(good > 3, `only ${good} were good`);
});
