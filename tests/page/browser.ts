/** A real browser that looks at the page of a node in the lab, through the lab's gate and this machine's loopback. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { ensurePackages } from '../../tools/machine/packages.ts';
import { forwardPort } from '../../tools/run/forward.ts';
import { createSupplies } from '../lab/supplies.ts';
import { type PodNode, podNode } from '../node/pod-support.ts';

/** Nothing that a browser does by itself leaves the machine. */
const QUIET = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'],
];
export const WITHIN_MS = 120_000;

export interface PagePlace {
  readonly pods: PodNode;
  /** `http://127.0.0.1:PORT` */
  readonly address: string;
  token(kind: 'administrator' | 'reader'): Promise<string>;
  /** A new page. What it logs as an error, and what it asks of others than the kubelet, is collected. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>;
  readonly complaints: readonly string[];
}

export async function pagePlace(t: TestContext): Promise<PagePlace> {
  // Some requests are made inside the node.
  await ensurePackages(['curl'], console.error);
  const { chromium: program } = await createSupplies(process.env).ensure('chromium');
  const pods = await podNode(t, { env: { KUBELET_TS_LOCAL_API: 'true', KUBELET_TS_PAGE: 'true' } });
  const forward = await forwardPort(pods.node.gate, { host: '127.0.0.1', port: 4194 }, 0);
  t.after(() => forward.close());
  const browser = await chromium.launch({ executablePath: program, args: QUIET });
  t.after(() => browser.close());
  const address = `http://127.0.0.1:${forward.port}`;
  const complaints: string[] = [];
  return {
    pods,
    address,
    complaints,
    token: async (kind) =>
      (await readFile(join(pods.node.kubeletDirectory, 'local-api', `${kind}.token`), 'utf8')).trim(),
    open: async (path, options = {}) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
      const page = await context.newPage();
      page.setDefaultTimeout(WITHIN_MS);
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('request', (request) => {
        if (!request.url().startsWith(address)) complaints.push(`asked ${request.url()}`);
      });
      const answer = await page.goto(`${address}/${path}`);
      assert.equal(answer?.status(), 200);
      return page;
    },
  };
}
