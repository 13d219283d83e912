/** Kubelets take a node over from each other: the volumes of its pods are where the other one looks for them. */
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import type { KubeletSettings } from '../../tools/machine/kubelet.ts';
import type { Cluster } from '../lab/cluster/cluster.ts';
import { createSupplies } from '../lab/supplies.ts';
import {
  inside,
  type PodRequest,
  podDirectory,
  replaceData,
  runPod,
  volumeDirectory,
  waitForContent,
  waitUntilLeft,
} from './volumes-support.ts';

const OURS = resolve(import.meta.dirname, '../../dist/kubelet');
const SWAPPED = 'swapped';

const volumes: NonNullable<PodRequest['volumes']> = [
  { name: 'e', emptyDir: {} },
  { name: 'm', emptyDir: { medium: 'Memory', sizeLimit: '4Mi' } },
  { name: 'cm', configMap: { name: SWAPPED } },
  { name: 's', secret: { secretName: 'pass' } },
  { name: 'd', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
];

const container = {
  volumeMounts: [
    ...['m', 'cm', 's', 'd'].map((name) => ({ name, mountPath: `/volumes/${name}` })),
    { name: 'e', mountPath: '/volumes/e', subPath: 'a/b' },
  ],
};

/** Without a token: another kubelet asks for another one. */
const spec = { automountServiceAccountToken: false };

/** Everything that a kubelet keeps of the pod's volumes: names, inodes, modes, owners, links, and the mounts. */
const look = (cluster: Cluster, uid: string): Promise<string> =>
  inside(
    cluster,
    `cd ${podDirectory(uid)} && find volumes plugins volume-subpaths -printf '%p %i %m %U:%G %l\\n' | sort
     grep ' ${podDirectory(uid)}/' /proc/self/mountinfo | cut -d' ' -f4- | sort`,
  );

/** Each of the two makes a pod that the other one keeps, updates and takes away. */
export async function swapKubelets(
  cluster: Cluster,
  settings: Pick<KubeletSettings, 'flags' | 'config'>,
): Promise<void> {
  const { kubelet } = cluster.node;
  const reference = await createSupplies(process.env).referenceKubelet();
  const use = async (binary: string) => {
    await kubelet.stop();
    await kubelet.start({ ...settings, binary });
    // It has listed the pods once a new one runs.
    await runPod(cluster, { name: 'new-one' });
    await cluster.kubectl('delete', 'pod', 'new-one', '--wait=true', '--timeout=180s');
  };
  await cluster.admin.create('/api/v1/namespaces/default/configmaps', {
    metadata: { name: SWAPPED },
    data: { color: 'blue' },
  });
  const mine = await runPod(cluster, { name: 'made-by-ours', volumes, container, spec });
  const before = await look(cluster, mine);
  await use(reference);
  assert.equal(await look(cluster, mine), before, 'the reference finds what ours has made');
  const theirs = await runPod(cluster, { name: 'made-by-reference', volumes, container, spec });
  const made = await look(cluster, theirs);
  await cluster.kubectl('delete', 'pod', 'made-by-ours', '--wait=true', '--timeout=180s');
  await waitUntilLeft(cluster, mine);

  await use(OURS);
  assert.equal(await look(cluster, theirs), made, 'ours finds what the reference has made');
  await replaceData(cluster, 'configmaps', SWAPPED, { color: 'red' });
  await waitForContent(cluster, `${volumeDirectory(theirs, 'configmap', 'cm')}/color`, 'red');
  await cluster.kubectl('delete', 'pod', 'made-by-reference', '--wait=true', '--timeout=180s');
  await waitUntilLeft(cluster, theirs);
}
