import assert from 'node:assert/strict';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { codeOf } from '../base/errors.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createJournal, type Journal } from './journal.ts';
import type { Change } from './rules/history.ts';
import type { ApiObject } from './rules/objects.ts';
import { createStore, DEFAULT_STORE, type Keeping, type Store, type StoreConfig } from './store.ts';

const log = createSilentLogger();

function placeOf(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'local-api-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return join(directory, 'objects', 'journal');
}

async function openStore(
  file: string,
  config?: StoreConfig,
  journal: Journal = createJournal({ log }, { file }),
): Promise<Store> {
  const store = createStore({ log, journal }, config);
  await store.start(new AbortController().signal);
  return store;
}

const keyOf = (name: string) => ({ resource: 'configmaps', namespace: 'default', name });
const objectOf = (name: string, text: string): ApiObject =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default', uid: name, resourceVersion: '' },
    data: { text },
  }) as ApiObject;
const put = (store: Store, name: string, text: string, keeping: Keeping = 'safe') =>
  store.change(keyOf(name), () => ({ kind: 'put', object: objectOf(name, text), keeping }));
const remove = (store: Store, name: string) =>
  store.change(keyOf(name), (current) =>
    current === undefined ? { kind: 'none' } : { kind: 'remove', last: current, keeping: 'safe' },
  );
const texts = (store: Store) =>
  store.list('configmaps', '').map((object) => (object as { data?: { text?: string } }).data?.text);

test('store: objects survive, revisions go on, and the file is for root only', async (t) => {
  const file = placeOf(t);
  const first = await openStore(file);
  await Promise.all([put(first, 'a', 'one'), put(first, 'b', 'two'), put(first, 'a', 'three')]);
  await put(first, 'memory', 'gone', 'memory');
  await remove(first, 'b');
  const revision = first.revision();
  await first.stop?.();
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const second = await openStore(file);
  assert.deepEqual(texts(second), ['three']);
  assert.equal(second.revision(), revision);
  assert.equal((await put(second, 'c', 'four'))?.metadata.resourceVersion, String(revision + 1));
  await second.stop?.();
});

test('store: a kill in the middle of a write costs only what no one was told is stored, at every byte', async (t) => {
  const file = placeOf(t);
  const store = await openStore(file);
  await put(store, 'a', 'one');
  const whole = statSync(file).size;
  await put(store, 'b', 'two');
  await store.stop?.();
  const end = statSync(file).size;
  for (let cut = whole; cut < end; cut += 7) {
    const copy = `${file}.${cut}`;
    copyFileSync(file, copy);
    truncateSync(copy, cut);
    const after = await openStore(copy);
    assert.deepEqual(texts(after), ['one'], `cut at ${cut}`);
    await put(after, 'c', 'three');
    await after.stop?.();
    const again = await openStore(copy);
    assert.deepEqual(texts(again), ['one', 'three']);
    await again.stop?.();
  }
});

test('store: a damaged record is left out and kept aside, the others stay', async (t) => {
  const file = placeOf(t);
  const store = await openStore(file);
  for (const name of ['a', 'b', 'c']) await put(store, name, name);
  await store.stop?.();
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('"text":"b"', '"text":"x"'));
  const after = await openStore(file);
  assert.deepEqual(texts(after), ['a', 'c']);
  await after.stop?.();
  assert.ok(existsSync(`${file}.damaged`));
  assert.ok(!readFileSync(file, 'utf8').includes('"text":"x"'));
});

test('store: a file of another program is not touched', async (t) => {
  const file = placeOf(t);
  await (await openStore(file)).stop?.();
  writeFileSync(file, 'something else\n');
  await assert.rejects(openStore(file), /not a journal that this kubelet can read/);
  appendFileSync(file, '');
  assert.equal(readFileSync(file, 'utf8'), 'something else\n');
});

test('store: without room nothing changes, what waits is refused too, and it goes on when there is room', async (t) => {
  const file = placeOf(t);
  const real = createJournal({ log }, { file });
  let isFull = false;
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  const journal: Journal = { ...real, append: (...given) => (isFull ? Promise.reject(full) : real.append(...given)) };
  const store = await openStore(file, DEFAULT_STORE, journal);
  await put(store, 'a', 'one');
  const seen: Change[] = [];
  store.watch(store.revision(), (change) => seen.push(change));
  isFull = true;
  const refused = await Promise.allSettled([put(store, 'a', 'two'), put(store, 'b', 'two')]);
  assert.deepEqual(
    refused.map((result) => result.status === 'rejected' && codeOf(result.reason)),
    ['exhausted', 'exhausted'],
  );
  assert.deepEqual([texts(store), seen], [['one'], []]);
  isFull = false;
  await put(store, 'b', 'three');
  assert.deepEqual(texts(store), ['one', 'three']);
  await store.stop?.();
});

test('store: a watch goes on where it was, and is told when that is forgotten', async (t) => {
  const store = await openStore(placeOf(t), { historyBytes: 4096, rewriteBytes: 1 << 20 });
  await put(store, 'a', '1');
  const since = store.revision();
  await put(store, 'a', '2');
  await remove(store, 'a');
  const seen: string[] = [];
  const stop = store.watch(since, ({ before, after }) =>
    seen.push(`${before ? 'before' : '-'} ${after ? 'after' : '-'}`),
  );
  await put(store, 'b', '1');
  assert.deepEqual(seen, ['before after', 'before -', '- after']);
  stop?.();
  for (let count = 0; count < 20; count++) await put(store, 'b', String(count));
  assert.equal(seen.length, 3);
  assert.equal(
    store.watch(since, () => undefined),
    undefined,
  );
  assert.notEqual(
    store.watch(store.revision(), () => undefined),
    undefined,
  );
  await store.stop?.();
});

test('store: the journal is written again when most of it is old, and no revision is given twice', async (t) => {
  const file = placeOf(t);
  const store = await openStore(file, { historyBytes: 1 << 16, rewriteBytes: 8192 });
  await put(store, 'kept', 'kept');
  await put(store, 'memory', 'x', 'memory');
  for (let count = 0; count < 200; count++) await put(store, 'a', `${count} ${'x'.repeat(100)}`);
  await remove(store, 'a');
  for (let count = 0; count < 40; count++) await put(store, 'b', 'x'.repeat(100));
  await remove(store, 'b');
  const revision = store.revision();
  await store.stop?.();
  assert.ok(statSync(file).size < 12_000, `${statSync(file).size} bytes`);
  const after = await openStore(file);
  assert.deepEqual([texts(after), after.revision()], [['kept'], revision]);
  await after.stop?.();
});
