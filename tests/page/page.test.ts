/** The page on port 4194 through real clicks and keys, on a node with a real runtime. */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { BUSYBOX, runs, stays, until } from '../node/pod-support.ts';
import { type PagePlace, pagePlace, WITHIN_MS } from './browser.ts';

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
const container = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(`^${name} `) });

async function showsTheNodeAndItsPods(place: PagePlace): Promise<void> {
  const { pods } = place;
  await pods.write('web', { containers: [stays('web'), runs('other', 'exec sleep 1000')] });
  await pods.write('broken', { containers: [{ name: 'a', image: 'lab.local/nothing:1', imagePullPolicy: 'Never' }] });
  const page = await place.open('');
  await row(page, 'web-node').getByText('Running').waitFor();
  // The broken one is first, and says why.
  await row(page, 'broken-node').getByText('ErrImageNeverPull', { exact: true }).waitFor();
  await page
    .getByText(/image "lab\.local\/nothing:1".*ErrImageNeverPull/)
    .first()
    .waitFor();
  const [first = ''] = await page.locator('table.pods tbody tr').allInnerTexts();
  assert.match(first, /broken-node/);
  for (const chart of ['CPU', 'Memory', 'Network', 'Disk'])
    await page.getByRole('img', { name: new RegExp(`^${chart}: .*\\d`) }).waitFor();
  // What comes and goes shows without a reload.
  const late = await pods.write('late', { containers: [stays('c')] });
  await row(page, 'late-node').getByText('Running').waitFor();
  await rm(late);
  await row(page, 'late-node').waitFor({ state: 'detached' });
  await page.getByRole('radio', { name: '1 hour' }).check();
  await page.getByRole('searchbox').fill('broken');
  await row(page, 'web-node').waitFor({ state: 'detached' });
  await page.context().close();
}

async function needsALoginForLogsAndShells(place: PagePlace): Promise<void> {
  const page = await place.open('#/pods/default/web-node');
  assert.equal(await container(page, 'web').getByRole('button', { name: 'Log' }).isDisabled(), true);
  await page.getByRole('link', { name: 'Log in' }).click();
  await page.getByLabel('Token').fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByText('This token is not valid here.').waitFor();
  await page.getByLabel('Token').fill(await place.token('reader'));
  await page.keyboard.press('Enter');
  await page.getByText('and may only read').waitFor();
  await page.goto(`${place.address}/#/pods/default/web-node`);
  await container(page, 'web').getByRole('button', { name: 'Log' }).click();
  await page.getByRole('log').getByText('web is up').waitFor();
  assert.equal(await container(page, 'web').getByRole('button', { name: 'Shell' }).isDisabled(), true);
  await page.context().close();
  // The refused token is an error of a request, and the browser logs it.
  const expected = place.complaints.filter((text) => !text.includes('401'));
  assert.deepEqual(expected, []);
}

async function opensAShell(place: PagePlace): Promise<void> {
  const page = await place.open(`#token=${await place.token('administrator')}`);
  await page.getByRole('link', { name: 'local-administrator' }).waitFor();
  assert.ok(!page.url().includes('token'), 'the token stays in no address');
  await page.getByRole('link', { name: /web-node/ }).click();
  await container(page, 'other').getByRole('button', { name: 'Shell' }).click();
  await page.getByText('open', { exact: true }).waitFor();
  await page.locator('.xterm-rows').getByText('#').first().waitFor();
  await page.keyboard.type('echo sum-$((40+2)) > /proc/1/fd/1; echo and-$((40+3))\n');
  await page.locator('.xterm-rows').getByText('and-43').waitFor();
  await container(page, 'other').getByRole('button', { name: 'Log' }).click();
  await page.getByRole('log').getByText('sum-42').waitFor();
  await page.context().close();
}

async function endsAPod(place: PagePlace): Promise<void> {
  const token = await place.token('administrator');
  const manifest = {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'mine', namespace: 'default' } },
    spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'c', image: BUSYBOX, command: ['sleep', '1000'] }] },
  };
  const made = await place.pods.node.exec([
    ...['curl', '-sk', '-H', `Authorization: Bearer ${token}`, '-H', 'Content-Type: application/json'],
    ...['https://127.0.0.1:10260/api/v1/namespaces/default/pods', '-d', JSON.stringify(manifest)],
  ]);
  assert.match(made.stdout, /"uid"/, made.stderr);
  const page = await place.open(`#token=${token}`);
  await row(page, 'default/mine').getByText('Running').waitFor();
  await page.getByRole('link', { name: /mine/ }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: 'Delete default/mine' }).click();
  await page.getByText(/There is no pod default\/mine/).waitFor();
  await page.goto(`${place.address}/#/pods/default/web-node`);
  await page.getByText('This pod comes from a file or a URL').waitFor();
  await page.context().close();
}

async function listsImagesAndSettings(place: PagePlace): Promise<void> {
  const page = await place.open('#/images');
  await row(page, BUSYBOX).getByRole('link', { name: 'default/web-node' }).waitFor();
  await page.getByRole('link', { name: 'Configuration' }).click();
  await row(page, 'staticPodPath')
    .getByText(/kubelet.*\.yaml:\d+|--/)
    .waitFor();
  await page.getByRole('checkbox', { name: 'with defaults' }).check();
  await row(page, 'syncFrequency').getByText('default').waitFor();
  await page.getByRole('link', { name: 'Evictions' }).click();
  await page.getByText('No pod was evicted').waitFor();
  await page.context().close();
}

/** With the keyboard alone, on a narrow dark screen. */
async function worksWithoutAMouse(place: PagePlace): Promise<void> {
  const page = await place.open('', { viewport: { width: 380, height: 700 }, colorScheme: 'dark' });
  await row(page, 'web-node').waitFor();
  const link = page.getByRole('link', { name: /web-node/ });
  const isThere = () => link.evaluate((one) => one === one.ownerDocument.activeElement);
  for (let presses = 0; presses < 40 && !(await isThere()); presses += 1) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Containers' }).waitFor();
  const tooWide = await page.evaluate<readonly string[]>(`
    document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('*')]
      .filter((one) => one.getBoundingClientRect().right > innerWidth && one.closest('.scroll') === null)
      .map((one) => one.tagName + '.' + one.className)`);
  assert.deepEqual(tooWide, []);
  assert.equal(await page.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(20, 23, 28)');
  await page.context().close();
}

/** Requests that a browser sends because another site told it to. */
async function refusesOtherSites({ address, pods, token }: PagePlace): Promise<void> {
  const own = address.slice('http://'.length);
  const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    (await fetch(`${address}${path}`, { method, headers, redirect: 'manual' })).status;
  const admin = { Authorization: `Bearer ${await token('administrator')}` };
  const reader = { Authorization: `Bearer ${await token('reader')}` };
  assert.equal(await ask('/page/login', { ...admin, Origin: 'http://elsewhere.example' }), 403);
  assert.equal(await ask('/page/delete/default/web-node', { ...admin, Origin: 'null' }, 'POST'), 403);
  assert.equal(await ask('/page/login', { ...admin, Origin: `http://${own}` }), 200);
  assert.equal(await ask('/page/delete/default/web-node', {}, 'POST'), 401);
  assert.equal(await ask('/page/delete/default/web-node', reader, 'POST'), 403);
  assert.equal(await ask('/page/delete/default/web-node', admin), 405);
  assert.equal(await ask('/page/logs/default/web-node/web'), 401);
  // A path that leaves the directory is first told its shorter form.
  assert.equal(await ask('/page/files/..%2f..%2fkubelet'), 307);
  assert.equal(await ask('/kubelet'), 404);
  assert.equal(await ask('/page/files/index.html'), 404);
  // Not by fetch: it sends no foreign Host.
  const rebound = await pods.node.exec(['curl', '-s', '-H', 'Host: elsewhere.example', 'http://127.0.0.1:4194/']);
  assert.match(rebound.stdout, /Host is not a name of this node/);
}

async function sendsAStrictPolicy({ address }: PagePlace): Promise<void> {
  const answer = await fetch(address);
  const policy = answer.headers.get('content-security-policy') ?? '';
  assert.match(policy, /^default-src 'none'; script-src 'self'; /);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe/);
  const again = (await fetch(address)).headers.get('content-security-policy');
  assert.notEqual(policy, again, 'the nonce is new each time');
}

async function isSmall({ address }: PagePlace): Promise<void> {
  const page = await (await fetch(address)).text();
  const names = ['main.js', 'main.css', 'icon.svg'];
  const main = await (await fetch(`${address}/page/files/main.js`)).text();
  const parts = [...main.matchAll(/"\.\/([\w.-]+\.js)"/g)].map(([, name = '']) => name);
  const files = await Promise.all(
    [...new Set([...names, ...parts])].map(async (name) => {
      const answer = await fetch(`${address}/page/files/${name}`);
      assert.equal(answer.status, 200, name);
      return Buffer.from(await answer.arrayBuffer());
    }),
  );
  const total = [Buffer.from(page), ...files].reduce((sum, one) => sum + gzipSync(one).length, 0);
  assert.ok(parts.length > 0, 'the terminal is a part of its own');
  assert.ok(total < 150_000, `${total} bytes, gzipped`);
}

async function answersAsCadvisor({ address }: PagePlace): Promise<void> {
  const json = async (path: string) => (await (await fetch(`${address}${path}`)).json()) as Record<string, unknown>;
  const metrics = await (await fetch(`${address}/metrics`)).text();
  assert.match(metrics, /^container_cpu_usage_seconds_total\{.*pod="web-node".*\} \d/m);
  assert.equal(typeof (await json('/api/v1.3/machine'))['num_cores'], 'number');
  const root = await json('/api/v1.3/containers/');
  assert.equal(root['name'], '/');
  assert.ok((root['subcontainers'] as unknown[]).length > 0);
  const all = (await json('/api/v1.3/subcontainers/')) as unknown as readonly { spec: { labels?: object } }[];
  const names = all.map(({ spec }) => (spec.labels as Record<string, string> | undefined)?.['io.kubernetes.pod.name']);
  assert.ok(names.includes('web-node'), names.join());
  const byName = await json('/api/v2.1/stats?recursive=true');
  assert.equal(Object.keys(byName).length, all.length);
  assert.equal((await fetch(`${address}/api/v1.3/containers/nothing`)).status, 404);
}

async function survivesAKubeletRestart(place: PagePlace): Promise<void> {
  const page = await place.open('');
  await row(page, 'web-node').getByText('Running').waitFor();
  await place.pods.node.kubelet.kill();
  await page.getByText('No connection to the kubelet').waitFor();
  await place.pods.node.kubelet.start();
  await page.getByText('No connection to the kubelet').waitFor({ state: 'detached' });
  await row(page, 'web-node').getByText('Running').waitFor();
  await page.context().close();
}

test('the page', { timeout: 560_000 }, async (t) => {
  const place = await pagePlace(t);
  await t.test('shows the node and its pods, as they change', () => showsTheNodeAndItsPods(place));
  await t.test('needs a login for logs and shells', () => needsALoginForLogsAndShells(place));
  await t.test('opens a shell', () => opensAShell(place));
  await t.test('ends a pod', () => endsAPod(place));
  await t.test('lists images with what keeps them, and settings with their origin', () =>
    listsImagesAndSettings(place),
  );
  await t.test('works with the keyboard alone, on a narrow and dark screen', () => worksWithoutAMouse(place));
  await t.test('refuses what other sites make a browser send', () => refusesOtherSites(place));
  await t.test('lets a browser load nothing from elsewhere', () => sendsAStrictPolicy(place));
  await t.test('is small', () => isSmall(place));
  await t.test('answers tools as cAdvisor does', () => answersAsCadvisor(place));
  await t.test('logs no error and asks no one else', async () => {
    await until('the last message', () => true, WITHIN_MS);
    assert.deepEqual(
      place.complaints.filter((text) => !text.includes('401')),
      [],
    );
  });
  await t.test('connects again after a restart of the kubelet', () => survivesAKubeletRestart(place));
});
