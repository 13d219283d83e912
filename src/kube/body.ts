/** Reads the body of an answer of the API server: as text, or line by line while it comes. */
import { type BodyLimits, readChunks, readWhole, tooLong } from '../wire/http-body.ts';
import type { HttpReply } from '../wire/http-reply.ts';

export async function readText(reply: HttpReply, limits: BodyLimits): Promise<string> {
  return (await readWhole(reply, limits)).toString('utf8');
}

const NEW_LINE = 10;

/**
 * Gives each complete line to `onLine`. The limit is that of one line. Resolves when the server has ended the answer; an incomplete last
 * line is dropped.
 */
export async function readLines(
  reply: HttpReply,
  { mostBytes, signal }: BodyLimits,
  onLine: (line: string) => void,
): Promise<void> {
  let held: Buffer[] = [];
  let size = 0;
  await readChunks(reply, signal, (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(NEW_LINE); end >= 0; end = chunk.indexOf(NEW_LINE, from)) {
      held.push(chunk.subarray(from, end));
      const [only] = held;
      const line = held.length === 1 && only !== undefined ? only : Buffer.concat(held);
      held = [];
      size = 0;
      from = end + 1;
      if (line.length > 0) onLine(line.toString('utf8'));
    }
    if (from < chunk.length) {
      held.push(chunk.subarray(from));
      size += chunk.length - from;
    }
    if (size > mostBytes) throw tooLong(mostBytes);
    return 'more';
  });
}
