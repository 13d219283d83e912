/** Images of a lab node, through CRI alone: no worker, no pods, events kept in a list. */

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Container } from '../../src/api/container.ts';
import type { Pod, PodSpec } from '../../src/api/pod.ts';
import { createSystemClock } from '../../src/base/clock.ts';
import { createSilentLogger } from '../../src/base/logger.ts';
import { createTestSupervisor } from '../../src/base/supervise-testing.ts';
import { readDiskSpace } from '../../src/host/disk.ts';
import { createImages, type Images, type ImagesConfig, type ImagesDeps } from '../../src/images/images.ts';
import type { CriClient } from '../../src/runtime/cri/client.ts';
import { type Image, makeImage } from '../../tools/machine/oci/image.ts';

export const RELAXED: Omit<ImagesConfig, 'rootDirectory'> = {
  pulls: { atOnce: 1, qps: 5, burst: 10 },
  verification: { policy: 'NeverVerifyPreloadedImages', allowlist: [] },
  garbage: { highPercent: 100, lowPercent: 100, minimumAgeMs: 0, maximumAgeMs: 0, keep: [] },
  plugins: undefined,
};

export interface ImagesBench {
  readonly images: Images;
  readonly rootDirectory: string;
  /** `reason: message`, with the container's place where there is one. */
  readonly events: string[];
}

export async function openImages(
  t: TestContext,
  cri: CriClient,
  config: Partial<ImagesConfig> = {},
  deps: Partial<ImagesDeps> = {},
): Promise<ImagesBench> {
  const rootDirectory = config.rootDirectory ?? (await mkdtemp(join(tmpdir(), 'images-')));
  const events: string[] = [];
  const images = createImages(
    {
      clock: createSystemClock(),
      supervisor: createTestSupervisor(createSystemClock()),
      log: createSilentLogger(),
      runtime: cri.images,
      record: ({ type, reason, message }) => events.push(`${type} ${reason} ${message}`),
      listContainers: (signal) => cri.containers.list({}, signal),
      pods: () => [],
      diskOf: readDiskSpace,
      sandboxConfigOf: () => Promise.resolve(undefined),
      surroundings: { environment: {}, workingDirectory: rootDirectory, homeDirectory: undefined },
      ...deps,
    },
    { ...RELAXED, ...config, rootDirectory },
  );
  await images.part.start(new AbortController().signal);
  t.after(async () => {
    await images.part.stop?.();
    if (config.rootDirectory === undefined) await rm(rootDirectory, { recursive: true });
  });
  return { images, rootDirectory, events };
}

export function requestFor(image: string, more: Partial<Container> = {}, spec: Partial<PodSpec> = {}) {
  const container: Container = { name: 'c', image, imagePullPolicy: 'IfNotPresent', ...more };
  const pod: Pod = {
    metadata: { name: 'p', namespace: 'default', uid: randomUUID() },
    spec: { containers: [container], ...spec },
  };
  return { pod, container };
}

/** An image of its own with a layer of this many bytes, which nothing can compress away. */
export function imageOf(name: string, bytes = 1000): Image {
  const content = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at += 1)
    content[at] = (at * 7 + (at >> 8) * 13 + name.charCodeAt(at % name.length)) & 255;
  return makeImage({
    names: [],
    layers: [[{ kind: 'file', path: `${name}.bin`, content }]],
    config: { User: '1000', Labels: { name } },
  });
}
