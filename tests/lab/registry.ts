/**
 * A real image registry (Debian's docker-registry) on the loopback of a node, behind a small proxy of ours that makes it slow, failing
 * or cut off as a test asks. Pushes go past the proxy.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { Blob, Image } from '../../tools/machine/oci/image.ts';
import type { LabNode } from './lab.ts';
import type { Fault, SeenRequest } from './registry-faults.ts';

export interface RegistryOptions {
  /** Port on the node's loopback; two registries in one world need two. */
  readonly port?: number;
  /** Ask for one of ACCOUNTS. */
  readonly auth?: boolean;
  readonly faults?: readonly Fault[];
}

export interface Registry {
  /** `localhost:PORT`: the first part of the names of its images. */
  readonly host: string;
  /** Stores the image as `repository:tag` and answers its full name. */
  push(image: Image, repositoryAndTag: string): Promise<string>;
  /** Replaces the faults: from the next request on. */
  setFaults(faults: readonly Fault[]): Promise<void>;
  /** Every request that came through the proxy so far. */
  requests(): Promise<readonly SeenRequest[]>;
  /** Pulls of images named `name/…` (`registry.example.com`, say) come here too. */
  serveAs(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** Who may pull and push where `auth` is on. */
export const ACCOUNTS = [
  { user: 'lab', password: 'secret', hash: '$2y$05$FYQdIdkCutWWbZqXCUPUiujoJRBC7nfxFQxu4kUBLz8rbkxLCjLIW' },
  { user: 'other', password: 'other-secret', hash: '$2y$05$ru8W9emseIMTOjsXLaXYUukqmTYxe9VkBjkDmnbbTUSNsFRVg/3AG' },
] as const;

const DEFAULT_PORT = 5000;
/** The registry itself listens this much higher than its proxy. */
const BEHIND = 1000;
const START_DEADLINE_MS = 120_000;

export async function startRegistry(node: LabNode, binary: string, options: RegistryOptions): Promise<Registry> {
  const port = options.port ?? DEFAULT_PORT;
  const host = `localhost:${port}`;
  const origin = `http://127.0.0.1:${port + BEHIND}`;
  const directory = join(node.world.directory, `registry-${port}`);
  const control = join(directory, 'control.sock');
  await mkdir(directory, { recursive: true });
  await writeConfig(directory, port + BEHIND, options.auth ?? false);
  const server = await node.start({ name: `registry-${port}`, argv: [binary, 'serve', join(directory, 'config.yml')] });
  const proxy = await node.start({
    name: `registry-proxy-${port}`,
    argv: [process.execPath, join(import.meta.dirname, 'registry-proxy-main.ts'), String(port), origin, control],
  });
  await proxy.waitForLog(/proxy is up/, START_DEADLINE_MS);
  await untilAnswering(node, origin, () => server.logTail());

  const setFaults = async (faults: readonly Fault[]) => {
    await askProxy(control, 'PUT', '/faults', JSON.stringify(faults));
  };
  if (options.faults !== undefined) await setFaults(options.faults);
  return {
    host,
    setFaults,
    requests: async () => JSON.parse(await askProxy(control, 'GET', '/requests')) as SeenRequest[],
    push: async (image, repositoryAndTag) => {
      await pushImage(node, origin, image, repositoryAndTag);
      return `${host}/${repositoryAndTag}`;
    },
    serveAs: async (name) => {
      const table = join(node.containerd.registriesDirectory, name);
      await mkdir(table, { recursive: true });
      const hosts = `server = "http://${host}"\n[host."http://${host}"]\ncapabilities = ["pull", "resolve"]\n`;
      await writeFile(join(table, 'hosts.toml'), hosts);
    },
    stop: async () => {
      await Promise.all([proxy.stop(), server.stop()]);
    },
  };
}

async function writeConfig(directory: string, port: number, auth: boolean): Promise<void> {
  const passwords = join(directory, 'htpasswd');
  await writeFile(passwords, ACCOUNTS.map(({ user, hash }) => `${user}:${hash}\n`).join(''));
  const config = {
    version: 0.1,
    log: { level: 'warn' },
    storage: { filesystem: { rootdirectory: join(directory, 'data') }, delete: { enabled: true } },
    http: { addr: `127.0.0.1:${port}`, secret: 'of no use to anybody' },
    ...(auth ? { auth: { htpasswd: { realm: 'lab', path: passwords } } } : {}),
  };
  await writeFile(join(directory, 'config.yml'), stringify(config));
}

async function untilAnswering(node: LabNode, origin: string, log: () => string): Promise<void> {
  const deadline = performance.now() + START_DEADLINE_MS;
  for (;;) {
    try {
      await node.gate.request(`${origin}/v2/`);
      return;
    } catch (error) {
      if (performance.now() > deadline) throw new Error(`the registry does not answer:\n${log()}`, { cause: error });
      await delay(10);
    }
  }
}

async function pushImage(node: LabNode, origin: string, image: Image, repositoryAndTag: string): Promise<void> {
  const colon = repositoryAndTag.lastIndexOf(':');
  if (colon < 0) throw new Error(`${repositoryAndTag}: a tag is needed, as in app:1`);
  const repository = repositoryAndTag.slice(0, colon);
  const tag = repositoryAndTag.slice(colon + 1);
  const { user, password } = ACCOUNTS[0];
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const send = async (method: string, url: string, blob?: Blob) => {
    const answer = await node.gate.request(url, {
      method,
      headers: {
        authorization,
        ...(blob === undefined ? { 'content-length': '0' } : { 'content-type': blob.mediaType }),
      },
      ...(blob === undefined ? {} : { body: blob.content }),
    });
    if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.status} ${answer.text()}`);
    return answer;
  };
  for (const blob of [...image.layers, image.config]) {
    const begun = await send('POST', `${origin}/v2/${repository}/blobs/uploads/`);
    const upload = new URL(begun.headers.location ?? '', origin);
    upload.searchParams.set('digest', blob.digest);
    // Blobs are bytes to the registry, whatever is in them.
    await send('PUT', upload.href, { ...blob, mediaType: 'application/octet-stream' });
  }
  await send('PUT', `${origin}/v2/${repository}/manifests/${tag}`, image.manifest);
}

function askProxy(socketPath: string, method: string, path: string, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ socketPath, method, path }, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString('utf8');
      if (response.statusCode === 200) resolve(text);
      else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
    });
    request.on('error', reject);
    request.end(body);
  });
}
