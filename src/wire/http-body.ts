/** Reads the body of a response, never more of it than the caller allows. Serves HTTP/1.1 and HTTP/2. */
import type { Readable } from 'node:stream';
import { CodedError, codeOf } from '../base/errors.ts';
import type { HttpReply } from './http-reply.ts';

export interface BodyLimits {
  readonly mostBytes: number;
  readonly signal: AbortSignal;
}

type Body = Pick<HttpReply, 'body' | 'cancel'>;

/** The whole body; a longer one is an error. */
export async function readWhole(reply: Body, { mostBytes, signal }: BodyLimits): Promise<Buffer> {
  // Joined once at the end: joining at every chunk would cost the square of their number.
  const chunks: Buffer[] = [];
  let size = 0;
  await readChunks(reply, signal, (chunk) => {
    size += chunk.length;
    if (size > mostBytes) throw tooLong(mostBytes);
    chunks.push(chunk);
    return 'more';
  });
  return Buffer.concat(chunks);
}

/** The first bytes of the body; what comes after them is not waited for. */
export async function readStart(reply: Body, { mostBytes, signal }: BodyLimits): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  await readChunks(reply, signal, (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    return size < mostBytes ? 'more' : 'enough';
  });
  return Buffer.concat(chunks).subarray(0, mostBytes);
}

export function tooLong(mostBytes: number): CodedError {
  return new CodedError('unavailable', `the answer is longer than ${mostBytes} bytes`);
}

/**
 * Gives each chunk to `take` until the server has ended the body or `take` has enough or throws. Rejects with what `take` threw, with
 * the signal's reason, or with an `unavailable` error if the body broke off.
 */
export function readChunks(
  { body, cancel }: Body,
  signal: AbortSignal,
  take: (chunk: Buffer) => 'more' | 'enough',
): Promise<void> {
  return new Promise((resolve, reject) => {
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
      try {
        if (take(chunk) === 'more') return;
      } catch (error) {
        fail(error);
        return;
      }
      settle();
      cancel();
      resolve();
    };
    if (signal.aborted) {
      onAbort();
      return;
    }
    if (body.closed) {
      reject(cutOff());
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    body.on('data', onData);
    body.once('error', (cause) => fail(codeOf(cause) === 'unavailable' ? cause : cutOff(cause)));
    body.once('end', () => {
      ended = true;
    });
    body.once('close', () => {
      settle();
      if (ended && !isCut(body)) resolve();
      else reject(cutOff());
    });
  });
}

function cutOff(cause?: unknown): CodedError {
  return new CodedError('unavailable', 'the answer was cut off', { cause });
}

/** A stream of HTTP/2 that was reset, or a response of HTTP/1.1 without its end, also comes to an `end`. */
function isCut(body: Readable): boolean {
  if ('rstCode' in body) return body.rstCode !== 0 || ('aborted' in body && body.aborted === true);
  return 'complete' in body && body.complete === false;
}
