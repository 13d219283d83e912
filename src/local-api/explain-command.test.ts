import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runExplain } from './explain-command.ts';
import { parseExplain } from './rules/explain-arguments.ts';
import { explainText } from './rules/explain-text.ts';

const read = (...words: readonly string[]) => {
  const found = parseExplain(words, '/k');
  return found.ok ? found.value : found.problem;
};

test('kubelet explain: its arguments', () => {
  const usual = { pod: 'web', namespace: 'default', kubeconfig: '/k', json: false };
  assert.deepEqual(read('web'), usual);
  assert.deepEqual(read('other/web'), { ...usual, namespace: 'other' });
  assert.deepEqual(read('-n', 'other', 'web'), { ...usual, namespace: 'other' });
  assert.deepEqual(read('web', '--namespace=other', '-o', 'json', '--kubeconfig', '/x'), {
    ...usual,
    ...{ namespace: 'other', kubeconfig: '/x', json: true },
  });
  assert.equal(read(), 'one pod is needed');
  assert.equal(read('a', 'b'), 'one pod is needed');
  assert.equal(read('--what', 'a'), 'unknown flag: --what');
  assert.equal(read('-o', 'xml', 'a'), 'unknown output format: xml');
});

test('kubelet explain: the answer as lines, and a clear error where there is none', async () => {
  const pod = { uid: 'u', namespace: 'default', name: 'web' };
  const steps = [
    { subject: { kind: 'admission' }, reason: 'r', state: { kind: 'done', since: 0 }, failures: 0 },
    {
      subject: { kind: 'image', container: 'c', image: 'i', attempt: 0 },
      reason: 'r',
      state: { kind: 'waiting', since: 0, actor: 'registry', for: { kind: 'retry' } },
      failures: 1,
      lastError: { reason: 'ErrImagePull', message: 'no route', at: 0 },
    },
  ] as const;
  assert.equal(
    explainText({ pod, step: 'syncing', steps, summary: 'x' }, 4000),
    'default/web: x\n\n  + admission: done\n  - image "i" of container "c": fails for 4s; ErrImagePull: no route; the registry has to act\n',
  );
  const run = (words: readonly string[]) =>
    runExplain({ words, environment: { KUBECONFIG: '/no/such' }, now: () => 0 });
  assert.match((await run(['web'])).error, /^Error: .*\/no\/such/);
  assert.equal((await run(['--help'])).code, 0);
  assert.equal((await run([])).code, 1);
});
