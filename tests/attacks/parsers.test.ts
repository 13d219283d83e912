/** Pods whose text is made to keep the kubelet busy: they wait or are refused with a reason, and all others run. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type PodNode, podNode, stays, until } from '../node/pod-support.ts';

const PORT = 8098;
/** An answer that never ends, as fast as it is taken. */
const ENDLESS = `require('node:http').createServer((_, response) => {
  const more = () => { while (response.write('# '.repeat(32768) + '\\n')); };
  response.on('drain', more);
  more();
}).listen(${PORT}, '127.0.0.1')`;

/** Far more than a busy machine needs, and far less than a quadratic or exponential pass over these texts takes. */
const ANSWERED_WITHIN_MS = 60_000;

async function watchHealth({ node }: PodNode, signal: AbortSignal): Promise<number> {
  let slowest = 0;
  while (!signal.aborted) {
    const asked = performance.now();
    assert.equal((await node.kubelet.healthz('/healthz/ping')).status, 200);
    slowest = Math.max(slowest, performance.now() - asked);
    await delay(50);
  }
  return slowest;
}

async function untilLogged({ node }: PodNode, text: string): Promise<void> {
  const find = async () => ((await readFile(node.kubelet.logFile, 'utf8')).includes(text) ? true : undefined);
  await until(`the log has: ${text}`, find);
}

test('hostile texts: the kubelet answers all the time, and other pods run', async (t) => {
  const place = await podNode(t, {
    config: { staticPodURL: `http://127.0.0.1:${PORT}/pods`, httpCheckFrequency: '1s' },
  });
  await place.node.start({ name: 'endless-server', argv: [process.execPath, '-e', ENDLESS] });
  const watching = new AbortController();
  const watched = watchHealth(place, watching.signal);
  const file = (name: string, text: string) => writeFile(join(place.node.manifestsDirectory, name), text);

  await t.test('variables that double each other wait with CreateContainerConfigError', async () => {
    const value = (n: number) => (n === 0 ? 'ab' : `$(V${n - 1})$(V${n - 1})`);
    const env = Array.from({ length: 40 }, (_, n) => ({ name: `V${n}`, value: value(n) }));
    await place.write('doubled', { containers: [stays('c', { env })] });
    const event = await place.untilEvent('doubled', /^Failed: .*is longer than/);
    assert.match(event, /environment variable \\"V16\\" is longer than 131072 bytes, which Linux can't execute/);
    await untilLogged(place, '"reason":"CreateContainerConfigError"');
    assert.deepEqual(await place.containers('doubled'), []);
  });

  await t.test('half a million openers that nothing closes are an argument that is too long', async () => {
    await place.write('openers', { containers: [stays('c', { args: ['$('.repeat(500_000)] })] });
    await place.untilEvent('openers', /^Failed: .*an argument is longer than 131071 bytes/);
  });

  await t.test('openers that fit, and ten thousand variables, run', async () => {
    const env = Array.from({ length: 10_000 }, (_, n) => ({ name: `V${n}`, value: `$(V0)${n}` }));
    await place.write('fits', {
      containers: [stays('c', { env: [{ name: 'A', value: '$('.repeat(60_000) }, ...env] })],
    });
    await place.running('fits', 'c');
  });

  await t.test('aliases of aliases and brackets in brackets are refused', async () => {
    const levels = Array.from({ length: 30 }, (_, n) => `    a${n + 1}: &a${n + 1} [*a${n}, *a${n}]\n`).join('');
    const head = 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: bomb\n  annotations:\n';
    await file('bomb.yaml', `${head}    a0: &a0 x\n${levels}`);
    await untilLogged(place, 'the aliases until here stand for more than 100000 values');
    await file('deep.yaml', '['.repeat(1_000_000));
    await untilLogged(place, 'nested deeper than 200 levels');
  });

  await t.test('a quantity of a million digits is refused', async () => {
    await file(
      'digits.yaml',
      `${'apiVersion: v1\nkind: Pod\nmetadata: {name: digits}\nspec:\n  containers:\n'}  - {name: c, image: i, resources: {limits: {cpu: "${'1'.repeat(1_000_000)}!"}}}\n`,
    );
    await untilLogged(place, 'it is longer than 128 characters');
  });

  await t.test('an answer that never ends is given up', () => untilLogged(place, 'the answer is longer than'));

  await place.write('good', { containers: [stays('c')] });
  await place.running('good', 'c');
  watching.abort();
  const slowest = await watched;
  t.diagnostic(`the slowest answer of /healthz took ${slowest.toFixed(0)} ms`);
  assert.ok(slowest < ANSWERED_WITHIN_MS, `/healthz took ${slowest} ms`);
});
