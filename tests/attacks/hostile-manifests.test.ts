/** Manifests that somebody wrote to break the kubelet: the pods beside them must not notice. */
import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { podNode, stays } from '../node/pod-support.ts';

const SPEC = { terminationGracePeriodSeconds: 0, containers: [stays('c')] };
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];

const pod = (metadata: object, spec: object = SPEC) => stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec });
/** With metadata as somebody wrote it. */
const raw = (metadata: string) => `apiVersion: v1\nkind: Pod\nmetadata: ${metadata}\nspec: ${JSON.stringify(SPEC)}\n`;
const container = (more: object) => ({ ...SPEC, containers: [stays('c', more)] });
const nested = (depth: number) => `${'{a: '.repeat(depth)}1${'}'.repeat(depth)}`;

/** Texts that are no pod. */
const REFUSED: Readonly<Record<string, (name: string) => string>> = {
  'creation at no time': (name) => pod({ name, creationTimestamp: 'soon' }),
  'deletion at no time': (name) => pod({ name, deletionTimestamp: 'soon' }),
  'a time that is a number': (name) => pod({ name, creationTimestamp: 7 }),
  'a year beyond all': (name) => pod({ name, creationTimestamp: '99999-01-01T00:00:00Z' }),
  'numbers where strings belong': () => pod({ name: 7, namespace: 8, labels: { a: 1 } }),
  'a map where a list belongs': (name) => pod({ name }, { containers: { name: 'c' } }),
  'a container of nothing': (name) => pod({ name }, { containers: [null] }),
  'deeper than the stack': (name) => raw(`{name: ${name}, managedFields: [${nested(50_000)}]}`),
  'a pod called __proto__': () => pod({ name: '__proto__' }),
  'the name of another pod': () => pod({ name: 'good' }),
  'a path for a UID': (name) => pod({ name, uid: '../../etc' }),
  'a name as long as a book': () => pod({ name: 'x'.repeat(100_000) }),
  'an alias of itself': (name) => raw(`&a {name: ${name}, managedFields: [*a]}`),
  'aliases that double': () =>
    `a0: &a0 [1]\n${LETTERS.map((_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]`).join('\n')}\n`,
  'numbers of no size': (name) => pod({ name }, { ...SPEC, terminationGracePeriodSeconds: 1e300, priority: -1e300 }),
  'quantities of no size': (name) =>
    pod({ name }, container({ resources: { limits: { cpu: '1e99999', memory: '-1' } } })),
};

/** Texts that are odd, and pods all the same. */
const TAKEN: Readonly<Record<string, (name: string) => string>> = {
  'labels and annotations of nothing': (name) => pod({ name, labels: null, annotations: null }),
  'the value of a label is nothing': (name) => pod({ name, labels: { a: null } }),
  'the prototype as metadata': (name) => raw(`{name: ${name}, __proto__: {name: evil, polluted: "yes"}}`),
  'names of an object as labels': (name) => raw(`{name: ${name}, labels: {constructor: a, toString: b, valueOf: c}}`),
  'names of an object as annotations': (name) =>
    raw(`{name: ${name}, annotations: {constructor: a, toString: b, hasOwnProperty: c}}`),
  'a container called constructor': (name) => pod({ name }, { ...SPEC, containers: [stays('constructor')] }),
  'a variable called constructor': (name) => pod({ name }, container({ env: [{ name: 'constructor', value: 'x' }] })),
};

test('hostile manifests, one after the other: good pods stay and start, and the kubelet is well', async (t) => {
  const { node, running, write, containers } = await podNode(t);
  const check = async (what: string) => {
    const { status, text } = await node.kubelet.healthz('/healthz?verbose');
    assert.equal(status, 200, `${what}: ${text}`);
  };
  await write('good', SPEC);
  const before = await running('good', 'c');
  const all = [...Object.entries(REFUSED), ...Object.entries(TAKEN)];
  for (const [at, [what, text]] of all.entries()) {
    const path = join(node.manifestsDirectory, `hostile-${at}.yaml`);
    await writeFile(path, text(`hostile-${at}`));
    // A pod that was written after it and runs shows that the hostile one was read, and stopped nothing.
    await write(`next-${at}`, SPEC);
    await running(`next-${at}`, 'c');
    if (Object.hasOwn(TAKEN, what))
      await running(`hostile-${at}`, what.startsWith('a container') ? 'constructor' : 'c');
    await check(what);
    await Promise.all([path, join(node.manifestsDirectory, `next-${at}.yaml`)].map((file) => rm(file)));
  }
  assert.equal((await running('good', 'c')).id, before.id, 'the good pod was never touched');
  assert.equal((await containers('good')).length, 1);
});
