/** What tests of volumes look at: the pod's directory, the mounts of the node, the words of a container. */
import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readPodLog } from '../lab/static-pods.ts';
import { type PodNode, until } from './pod-support.ts';
import type { KubeletClient } from './streams-support.ts';

export async function readLog({ node }: PodNode, pod: string, container: string, word: string): Promise<string> {
  return await until(`"${word}" in the log of ${pod}/${container}`, async () => {
    const log = await readPodLog(node, pod, container);
    return log.includes(word) ? log : undefined;
  });
}

export async function podUidOf(place: PodNode, pod: string): Promise<string> {
  const [sandbox] = await place.sandboxes(pod);
  return sandbox?.metadata?.uid ?? '';
}

export async function podDirectory(place: PodNode, pod: string): Promise<string> {
  return join(place.node.kubeletDirectory, 'pods', await podUidOf(place, pod));
}

/** The lines of the kubelet's mount table below its directory, with this text in them. The world shows the directory at a second place too. */
export async function mountsIn({ node }: PodNode, text: string): Promise<readonly string[]> {
  const { stdout } = await node.exec(['cat', '/proc/self/mountinfo']);
  return stdout.split('\n').filter((line) => line.includes(' /var/lib/kubelet/pods/') && line.includes(text));
}

/** Takes the manifest away and waits until nothing of the pod is left. */
export async function finished(place: PodNode, pod: string, manifest: string, directory?: string): Promise<void> {
  const uid = await podUidOf(place, pod);
  await rm(manifest);
  await place.gone(pod);
  const path = directory ?? join(place.node.kubeletDirectory, 'pods', uid);
  if (directory !== undefined || uid !== '') await until(`${path} is gone`, () => isGone(path));
}

export async function isGone(path: string): Promise<true | undefined> {
  return await access(path).then(
    () => undefined,
    () => true as const,
  );
}

/** Waits until a metric of the kubelet has this value or a larger one. */
export async function atLeast(kubelet: KubeletClient, series: string, least: number): Promise<void> {
  await until(`${series} is ${least} or more`, async () => {
    const page = (await kubelet.request('/metrics')).text();
    const line = page.split('\n').find((one) => one.startsWith(`${series} `));
    return Number(line?.slice(series.length)) >= least ? true : undefined;
  });
}
