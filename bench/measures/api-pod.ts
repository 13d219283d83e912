/** One pod of the API server after the other. */
import { clusterMeasure } from '../measure.ts';
import { median, ninetieth } from '../statistics.ts';
import { runApiPods } from '../world/api-pods.ts';

const PODS = 10;

export const apiPod = clusterMeasure({
  name: 'api-pod',
  about: 'one pod at a time through the API server: create to Ready, delete (2 s grace, exits at once) to gone',
  needs: 'api',
  mostRounds: 2,
  figures: {
    ready: { text: 'create to Ready, median', unit: 'ms' },
    ready90: { text: 'create to Ready, 90th', unit: 'ms' },
    gone: { text: 'delete to gone, median', unit: 'ms' },
    gone90: { text: 'delete to gone, 90th', unit: 'ms' },
  },
  run: async (kubelet, world) => {
    await kubelet.start();
    const ready: number[] = [];
    const gone: number[] = [];
    for (let left = world.size.times(PODS); left > 0; left -= 1) {
      const pod = await runApiPods(world, 1);
      ready.push(...pod.readyAfter);
      gone.push(...(await pod.drain()));
    }
    return { ready: median(ready), ready90: ninetieth(ready), gone: median(gone), gone90: ninetieth(gone) };
  },
});
