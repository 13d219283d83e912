/** Reads the body of an answer: whole, or line by line while it comes. */
import { CodedError, codeOf } from '../base/errors.ts';
import type { Reply } from './link.ts';

export interface BodyLimits {
  /** Of the whole body, or of one line. */
  readonly mostBytes: number;
  readonly signal: AbortSignal;
}

/** Chunks are joined once: joining at every chunk would cost the square of their number. */
export async function readWhole(reply: Reply, limits: BodyLimits): Promise<string> {
  const chunks: Buffer[] = [];
  await follow(reply, limits, (chunk, size) => {
    chunks.push(chunk);
    return size;
  });
  return Buffer.concat(chunks).toString('utf8');
}

const NEW_LINE = 10;

/** Gives every whole line to `onLine`, never a torn one. Resolves when the server has ended the answer. */
export async function readLines(reply: Reply, limits: BodyLimits, onLine: (line: string) => void): Promise<void> {
  let held: Buffer[] = [];
  let size = 0;
  await follow(reply, limits, (chunk) => {
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
    return size;
  });
}

/** `take` says how many bytes are held now. */
function follow(
  { body, cancel }: Reply,
  { mostBytes, signal }: BodyLimits,
  take: (chunk: Buffer, total: number) => number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let total = 0;
    let ended = false;
    const settle = () => {
      signal.removeEventListener('abort', onAbort);
      body.off('data', onData);
    };
    const fail = (error: unknown) => {
      settle();
      cancel();
      reject(error);
    };
    const onAbort = () => fail(signal.reason);
    const onData = (chunk: Buffer) => {
      total += chunk.length;
      try {
        if (take(chunk, total) <= mostBytes) return;
      } catch (error) {
        fail(error);
        return;
      }
      fail(new CodedError('unavailable', `the answer is longer than ${mostBytes} bytes`));
    };
    if (signal.aborted) {
      onAbort();
      return;
    }
    if (body.closed) {
      reject(new CodedError('unavailable', 'the answer was cut off'));
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    body.on('data', onData);
    body.once('error', (cause) =>
      fail(
        codeOf(cause) === 'unavailable' ? cause : new CodedError('unavailable', 'the answer was cut off', { cause }),
      ),
    );
    body.once('end', () => {
      ended = true;
    });
    body.once('close', () => {
      settle();
      if (ended && !isCut(body)) resolve();
      else reject(new CodedError('unavailable', 'the answer was cut off'));
    });
  });
}

/** A stream of HTTP/2 that was reset, or an answer of HTTP/1.1 without its end, also comes to an `end`. */
function isCut(body: Reply['body']): boolean {
  if ('rstCode' in body) return body.rstCode !== 0 || ('aborted' in body && body.aborted === true);
  return 'complete' in body && body.complete === false;
}
