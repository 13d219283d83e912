/** One static pod after the other. */
import { nodeMeasure } from '../measure.ts';
import { median, ninetieth } from '../statistics.ts';
import { runDirectPods } from '../world/direct-pods.ts';
import { runStaticPods } from '../world/static-pods.ts';

const PODS = 10;

export const staticPod = nodeMeasure({
  name: 'static-pod',
  about: 'one pod at a time: from its file in place to its first log line, from the file removed to its end',
  needs: 'pods',
  figures: {
    up: { text: 'file to first log line, median', unit: 'ms' },
    up90: { text: 'file to first log line, 90th', unit: 'ms' },
    gone: { text: 'file removed to gone, median', unit: 'ms' },
  },
  run: async (kubelet, world) => {
    await kubelet.start();
    return await oneByOne(world.size.times(PODS), () => runStaticPods(world, 1));
  },
  floor: (world) => oneByOne(world.size.times(PODS), () => runDirectPods(world, 1)),
});

interface SomePods {
  readonly upAfter: readonly number[];
  drain(): Promise<number>;
}

async function oneByOne(times: number, runOne: () => Promise<SomePods>) {
  const up: number[] = [];
  const gone: number[] = [];
  for (let left = times; left > 0; left -= 1) {
    const pod = await runOne();
    up.push(...pod.upAfter);
    gone.push(await pod.drain());
  }
  return { up: median(up), up90: ninetieth(up), gone: median(gone) };
}
