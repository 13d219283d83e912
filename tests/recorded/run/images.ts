/** The images of the recorded lives, under the names they had there. */
import { readFile } from 'node:fs/promises';
import { busyboxImage } from '../../../tools/machine/images.ts';
import { type Image, type ImageSpec, makeImage } from '../../../tools/machine/oci/image.ts';
import { createSupplies } from '../../lab/supplies.ts';

/** Makes it another image than the lab's own of the same files. */
const Labels = { recorded: 'yes' };
const DIRECTORY = 'registry.k8s.io/e2e-test-images';

export async function recordedImages(env: NodeJS.ProcessEnv): Promise<readonly Image[]> {
  const { agnhost } = await createSupplies(env).ensure('busybox', 'agnhost');
  const { layers, config } = await busyboxImage();
  const program = { kind: 'file', path: 'agnhost', mode: 0o755, content: await readFile(agnhost) } as const;
  const specs: readonly ImageSpec[] = [
    // The other name is the one that the recorded statuses show: the node's images had several.
    {
      names: ['docker.io/library/busybox:1.35', `${DIRECTORY}/busybox:1.37.0-1`],
      layers,
      config: { ...config, Labels },
    },
    { names: [`${DIRECTORY}/nonroot:1.5`], layers, config: { ...config, User: '1234' } },
    {
      names: [`${DIRECTORY}/agnhost:2.55`, `${DIRECTORY}/agnhost:2.63.0`],
      layers: [...layers, [program]],
      config: { ...config, Entrypoint: ['/agnhost'], Cmd: ['pause'] },
    },
  ];
  return specs.map(makeImage);
}
