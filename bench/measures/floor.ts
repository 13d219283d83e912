/** What the runtime itself takes, called directly. */
import { type Figure, nodeMeasure } from '../measure.ts';
import { last, median } from '../statistics.ts';
import { runDirectPods } from '../world/direct-pods.ts';

const SINGLES = 10;
const MANY = 50;
const LANES = [2, 4, 6, 50] as const;

const lanesFigures = Object.fromEntries(
  LANES.flatMap((lanes): [string, Figure][] => [
    [`median-${lanes}`, { text: `${MANY} pods, ${lanes} at a time, median`, unit: 'ms' }],
    [`last-${lanes}`, { text: `${MANY} pods, ${lanes} at a time, last`, unit: 'ms' }],
    [`drain-${lanes}`, { text: `stop of ${MANY} pods, ${lanes} at a time`, unit: 'ms' }],
  ]),
);

export const floor = nodeMeasure<string>({
  name: 'floor',
  about: 'pods by direct calls of the runtime: the first call to the first log line, and stop calls to the last answer',
  needs: 'health',
  mostRounds: 2,
  figures: { one: { text: 'one pod', unit: 'ms' }, ...lanesFigures },
  floor: async (world) => {
    const { size } = world;
    const singles: number[] = [];
    for (let left = size.times(SINGLES); left > 0; left -= 1) {
      const pod = await runDirectPods(world, 1);
      singles.push(...pod.upAfter);
      await pod.drain();
    }
    const values: Record<string, number> = { one: median(singles) };
    for (const lanes of LANES) {
      const pods = await runDirectPods(world, size.pods(MANY), { start: lanes, stop: lanes });
      values[`median-${lanes}`] = median(pods.upAfter);
      values[`last-${lanes}`] = last(pods.upAfter);
      values[`drain-${lanes}`] = await pods.drain();
    }
    return values;
  },
});
