/** What `make run` shows: one pod with a web page, made from local packages. */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import { createSystemClock } from '../../src/base/clock.ts';
import { createCriClient } from '../../src/runtime/cri/client.ts';
import { busyboxImage, textFile } from '../machine/images.ts';
import type { NodeWorld } from '../machine/node.ts';
import { type Image, makeImage } from '../machine/oci/image.ts';

export const DEMO_POD = 'hello';
export const DEMO_PORT = 8080;
export const DEMO_IMAGE = 'demo.local/hello:1';
const PAGE = ['<!doctype html>', '<title>kubelet-ts</title>', '<h1>Hello from a pod that kubelet-ts runs</h1>'];

export async function demoImage(): Promise<Image> {
  const busybox = await busyboxImage();
  const page = [{ kind: 'directory', path: 'www' } as const, textFile('www/index.html', PAGE)];
  return makeImage({
    names: [DEMO_IMAGE],
    layers: [...busybox.layers, page],
    config: { ...busybox.config, Cmd: ['httpd', '-f', '-v', '-p', String(DEMO_PORT), '-h', '/www'] },
  });
}

/** Into its place whole, so that no one reads a half-written manifest. */
export async function writeDemoPod(node: NodeWorld): Promise<string> {
  const manifest = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: DEMO_POD },
    spec: {
      dnsPolicy: 'Default', // there is no cluster, so no DNS service of one
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'web',
          image: DEMO_IMAGE,
          imagePullPolicy: 'Never',
          ports: [{ containerPort: DEMO_PORT }],
          readinessProbe: { httpGet: { path: '/', port: DEMO_PORT }, periodSeconds: 5 },
        },
      ],
    },
  };
  const path = join(node.manifestsDirectory, `${DEMO_POD}.yaml`);
  const half = join(node.world.directory, `${DEMO_POD}.half`);
  await writeFile(half, stringify(manifest));
  await rename(half, path);
  return path;
}

/** The pod's address, as soon as its page is served. */
export async function untilServed(node: NodeWorld, signal: AbortSignal): Promise<string> {
  const cri = createCriClient({ endpoint: node.containerd.endpoint, clock: createSystemClock() });
  try {
    for (;;) {
      signal.throwIfAborted();
      for (const sandbox of await cri.sandboxes.list({}, signal)) {
        const ip = (await cri.sandboxes.status(sandbox.id, {}, signal))?.status?.network?.ip ?? '';
        if (ip !== '' && (await isServed(node, ip))) return ip;
      }
      await delay(100, undefined, { signal });
    }
  } finally {
    await cri.close();
  }
}

async function isServed(node: NodeWorld, ip: string): Promise<boolean> {
  return await node.gate.request(`http://${ip}:${DEMO_PORT}/`).then(
    (answer) => answer.status === 200,
    () => false, // not listening yet
  );
}
