/** How fast a kubelet hands out a container's log. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../tests/lab/static-pods.ts';
import { nodeMeasure } from '../measure.ts';
import { median } from '../statistics.ts';
import { CONTAINER, LOG_FILE } from '../world/log-times.ts';
import { timeRequests } from '../world/requests.ts';
import { podSpec, runStaticPods, staticPodUid } from '../world/static-pods.ts';

const THOUSANDS_OF_LINES = 300;
const LINE = 'x'.repeat(99);
const END = 'that was all';
const READS = 5;
const WRITTEN_DEADLINE_MS = 60_000;
const SECURE = 'https://127.0.0.1:10250';

export const logs = nodeMeasure({
  name: 'logs',
  about: 'the whole log of a container, 300,000 lines of 100 bytes, over /containerLogs',
  needs: 'logs',
  mostRounds: 2,
  figures: { speed: { text: 'reading a log', unit: 'MB/s', better: 'more' } },
  run: async (kubelet, world) => {
    const { node, size } = world;
    const lines = size.times(THOUSANDS_OF_LINES) * 1000;
    // One file, not one that is rotated while it is written.
    await kubelet.start({ containerLogMaxSize: '1Gi' });
    const script = `yes ${LINE} | head -n ${lines}; echo ${END}; exec sleep 3600`;
    const [name = ''] = (await runStaticPods(world, 1, podSpec({ command: ['sh', '-c', script] }))).names;
    const folder = `default_${name}_${await staticPodUid(world, name)}`;
    const file = join(node.podLogsFolder, folder, LOG_FILE);
    await eventually(`the end of ${file}`, () => endsWith(file, `${END}\n`), WRITTEN_DEADLINE_MS);
    const url = `${SECURE}/containerLogs/default/${name}/${CONTAINER}`;
    const responses = await timeRequests(node, url, size.times(READS));
    const expected = lines * (LINE.length + 1) + END.length + 1;
    const wrong = responses.find(({ bytes }) => bytes !== expected);
    if (wrong !== undefined) throw new Error(`${url}: ${wrong.bytes} bytes instead of ${expected}`);
    return { speed: median(responses.map(({ ms, bytes }) => bytes / 1000 / ms)) };
  },
});

async function endsWith(path: string, text: string): Promise<true | undefined> {
  await using file = await open(path);
  const { size } = await file.stat();
  const { buffer } = await file.read(Buffer.alloc(text.length), 0, text.length, Math.max(0, size - text.length));
  return buffer.toString('utf8') === text ? true : undefined;
}
