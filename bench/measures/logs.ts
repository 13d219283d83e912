/** How fast a kubelet hands out a container's log. */
import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { eventually } from '../../tests/lab/static-pods.ts';
import { nodeMeasure } from '../measure.ts';
import { median } from '../statistics.ts';
import { CONTAINER, LOG_FILE } from '../world/log-times.ts';
import type { BenchNode } from '../world/node.ts';
import { timeRequests } from '../world/requests.ts';
import { podSpec, runStaticPods, staticPodUid } from '../world/static-pods.ts';

const THOUSANDS_OF_LINES = 300;
const LINE = 'x'.repeat(99);
const END = 'that was all';
const READS = 5;
/** Of the large log, as its readers see it. */
const LARGE_BYTES = 500_000_000;
const LARGE_READS = 1;
const WRITTEN_DEADLINE_MS = 300_000;
const SECURE = 'https://127.0.0.1:10250';

export const logs = nodeMeasure({
  name: 'logs',
  about: 'the whole log of a container over /containerLogs: 300,000 lines of 100 bytes, and 500 MB of them',
  needs: 'logs',
  mostRounds: 2,
  figures: {
    speed: { text: 'reading a log of 30 MB', unit: 'MB/s', better: 'more' },
    large: { text: 'reading a log of 500 MB', unit: 'MB/s', better: 'more' },
  },
  run: async (kubelet, world) => {
    const { node, size } = world;
    const lines = size.times(THOUSANDS_OF_LINES) * 1000;
    // One file, not one that is rotated while it is written.
    await kubelet.start({ containerLogMaxSize: '1Gi' });
    const script = `yes ${LINE} | head -n ${lines}; echo ${END}; exec sleep 3600`;
    const [name = ''] = (await runStaticPods(world, 1, podSpec({ command: ['sh', '-c', script] }))).names;
    const directory = `default_${name}_${await staticPodUid(world, name)}`;
    const file = join(node.podLogsDirectory, directory, LOG_FILE);
    await eventually(`the end of ${file}`, () => endsWith(file, `${END}\n`), WRITTEN_DEADLINE_MS);
    const url = `${SECURE}/containerLogs/default/${name}/${CONTAINER}`;
    const expected = lines * (LINE.length + 1) + END.length + 1;
    const speed = await readingSpeed(world, { url, reads: READS, expected });
    const more = Math.floor(size.times(LARGE_BYTES) / (LINE.length + 1));
    await grow(file, more);
    const whole = expected + more * (LINE.length + 1);
    return { speed, large: await readingSpeed(world, { url, reads: LARGE_READS, expected: whole }) };
  },
});

async function readingSpeed(
  { node, size }: BenchNode,
  { url, reads, expected }: { readonly url: string; readonly reads: number; readonly expected: number },
): Promise<number> {
  const responses = await timeRequests(node, url, size.times(reads));
  const wrong = responses.find(({ bytes }) => bytes !== expected);
  if (wrong !== undefined) throw new Error(`${url}: ${wrong.bytes} bytes instead of ${expected}`);
  return median(responses.map(({ ms, bytes }) => bytes / 1000 / ms));
}

/** As the runtime would write it, only sooner. */
async function grow(path: string, lines: number): Promise<void> {
  const record = `2026-11-15T12:00:00.123456789Z stdout F ${LINE}\n`;
  const thousand = Buffer.from(record.repeat(1000));
  const file = createWriteStream(path, { flags: 'a' });
  for (let left = lines; left > 0; left -= 1000) {
    const piece = thousand.subarray(0, Math.min(left, 1000) * record.length);
    if (!file.write(piece)) await new Promise((resolve) => file.once('drain', resolve));
  }
  file.end();
  await finished(file);
}

async function endsWith(path: string, text: string): Promise<true | undefined> {
  await using file = await open(path);
  const { size } = await file.stat();
  const { buffer } = await file.read(Buffer.alloc(text.length), 0, text.length, Math.max(0, size - text.length));
  return buffer.toString('utf8') === text ? true : undefined;
}
