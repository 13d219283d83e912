/** Manifests on a real node: broken edits, leftovers, quick edits, and a server that comes and goes. */
import assert from 'node:assert/strict';
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { Pod } from '../../src/api/pod.ts';
import { never, podNode, stays, until } from './pod-support.ts';

test('a broken edit keeps the container and is told soon, over a restart of the kubelet too', async (t) => {
  // The files are looked at by the clock so rarely that only a change of them can be what tells.
  const config = { fileCheckFrequency: '1h' };
  const { node, running, containers, write, events, untilEvent } = await podNode(t, { config });
  const path = await write('web', { containers: [stays('c')], terminationGracePeriodSeconds: 1 });
  const before = await running('web', 'c');
  const good = await readFile(path, 'utf8');

  await writeFile(path, good.replace('containers:', 'containers: ['));
  await untilEvent('web', /^FailedValidation: .*web\.yaml:\d+:\d+: not valid YAML/);

  const told = async () => (await events('web')).filter((event) => event.startsWith('FailedValidation')).length;
  const toldBefore = await told();
  await node.kubelet.kill();
  await node.kubelet.start();
  await until('the restarted kubelet tells it again', async () => ((await told()) > toldBefore ? true : undefined));
  await delay(500);
  assert.deepEqual(
    (await containers('web', 'c')).map(({ id }) => id),
    [before.id],
  );

  await writeFile(path, good.replace('c is up', 'c is back'));
  await until('the repaired pod runs', async () => {
    const all = await containers('web', 'c');
    return all.length === 1 && all[0]?.id !== before.id ? true : undefined;
  });
});

test('a manifest that is deleted and written again at once restarts its pod; a new kubelet begins its status anew', async (t) => {
  const { node, running, containers, write, untilEvent } = await podNode(t, { config: { readOnlyPort: 10_255 } });
  const read = async () => {
    const answer = await node.gate.request('http://127.0.0.1:10255/pods');
    const { items } = JSON.parse(answer.text()) as { readonly items: readonly Pod[] };
    return items.find(({ metadata }) => metadata.name === `web-${node.nodeName}`);
  };
  const path = await write('web', { containers: [stays('c')], terminationGracePeriodSeconds: 5 });
  await running('web', 'c');
  const first = await until('its status', read);
  const text = await readFile(path, 'utf8');
  await rm(path);
  await writeFile(path, text);
  const { id } = await running('web', 'c', 1);
  await untilEvent('web', /^SandboxChanged: /);
  const second = await until('the status of its second life', async () => {
    const pod = await read();
    return pod?.status?.containerStatuses?.[0]?.state.running === undefined ? undefined : pod;
  });
  assert.equal(second.metadata.uid, first.metadata.uid);
  assert.equal(second.status?.containerStatuses?.[0]?.restartCount, 1);

  await node.kubelet.stop();
  const told = second.status?.startTime ?? '';
  // It is told in whole seconds.
  await delay(Math.max(0, Date.parse(told) + 1000 - Date.now()));
  await node.kubelet.start();
  await until('a new start time', async () => ((await read())?.status?.startTime ?? told) !== told || undefined);
  assert.equal((await containers('web', 'c'))[0]?.id, id, 'the container runs on');
});

test('copies that editors leave change nothing, and 100 quick edits end in exactly the last', async (t) => {
  const { node, cri, running, containers, write, sandboxes } = await podNode(t);
  const path = await write('web', { containers: [stays('c')], terminationGracePeriodSeconds: 0 });
  const before = await running('web', 'c');
  for (const ending of ['.bak', '~', '.orig', '.tmp', '.swp']) await copyFile(path, `${path}${ending}`);
  await delay(500);
  assert.deepEqual(
    (await containers('web')).map(({ id }) => id),
    [before.id],
  );

  const text = await readFile(path, 'utf8');
  for (let edit = 1; edit <= 100; edit++) {
    await writeFile(path, text.replace('metadata:', `metadata:\n  labels:\n    edit: "${edit}"`));
  }
  await until('the last edit runs alone', async () => {
    const all = await sandboxes('web');
    return all.length === 1 && all[0]?.labels['edit'] === '100' ? true : undefined;
  });
  const now = await running('web', 'c');
  await delay(1000);
  assert.deepEqual(
    (await cri.containers.list({}, never)).map(({ id }) => id),
    [now.id],
  );
  assert.ok(node.kubelet.pid);
});

test('pods from a URL: taken, kept while the server sends garbage or is away, changed, ended', async (t) => {
  const port = 8099;
  const { node, running, gone, containers } = await podNode(t, {
    config: { staticPodURL: `http://127.0.0.1:${port}/pods`, httpCheckFrequency: '200ms' },
  });
  const answer = join(node.world.directory, 'answer');
  const manifest = (image: string, word: string) =>
    stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'far' },
      spec: { terminationGracePeriodSeconds: 0, containers: [{ ...stays(word), name: 'c', image }] },
    });
  const serve = () =>
    node.start({
      name: 'manifest-server',
      argv: [
        process.execPath,
        '-e',
        `require('node:http').createServer((_, response) => require('node:fs').readFile(${JSON.stringify(answer)}, (error, text) => error ? response.writeHead(500).end() : response.end(text))).listen(${port}, '127.0.0.1')`,
      ],
    });
  await writeFile(answer, manifest('lab.local/busybox:1', 'first'));
  const server = await serve();
  const before = await running('far', 'c');

  await writeFile(answer, '<html>Sorry</html>');
  await delay(600);
  await server.kill('SIGKILL');
  await delay(600);
  await node.kubelet.kill();
  await node.kubelet.start();
  await delay(1000);
  assert.deepEqual(
    (await containers('far')).map(({ id }) => id),
    [before.id],
  );

  await writeFile(answer, manifest('lab.local/busybox:1', 'second'));
  await serve();
  await until('the changed pod runs', async () => {
    const all = await containers('far', 'c');
    return all.length === 1 && all[0]?.id !== before.id ? true : undefined;
  });
  await writeFile(answer, '{"apiVersion":"v1","kind":"PodList","items":[]}');
  await gone('far');
});
