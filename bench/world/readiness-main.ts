/**
 * Run inside a node: readiness-main.ts PORT. Answers the readiness probes of many pods, each at a path of its own: three times yes,
 * three times no, and so on. Prints a line of JSON whenever an answer differs from the one before.
 */
import { createServer } from 'node:http';

/** One answer of the server that differs from the one before. */
export interface Flip {
  readonly pod: string;
  readonly ready: boolean;
  /** When it was given, wall clock, milliseconds. */
  readonly at: number;
}

const SAME_ANSWERS = 3;

function serve(port: number): void {
  const given = new Map<string, number>();
  const server = createServer(({ url = '/' }, response) => {
    const pod = url.slice(1);
    const count = given.get(pod) ?? 0;
    given.set(pod, count + 1);
    const ready = Math.floor(count / SAME_ANSWERS) % 2 === 0;
    const flip: Flip = { pod, ready, at: Date.now() };
    response.writeHead(ready ? 200 : 503).end();
    if (count > 0 && count % SAME_ANSWERS === 0) process.stdout.write(`${JSON.stringify(flip)}\n`);
  });
  server.listen(port, '127.0.0.1', () => process.stdout.write('listening\n'));
}

if (import.meta.main) {
  const port = Number(process.argv[2]);
  if (!Number.isInteger(port) || port <= 0) throw new Error('usage: readiness-main.ts PORT');
  serve(port);
}
