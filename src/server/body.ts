/** Reads the body of a request, up to a limit. */
import type { IncomingMessage } from 'node:http';
import { CodedError } from '../base/errors.ts';

/** Rejects with `exhausted` if it is longer; the connection is then unusable. */
export async function readBytes(request: IncomingMessage, atMost: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > atMost) throw new CodedError('exhausted', `the body is longer than ${atMost} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export async function readBody(request: IncomingMessage, atMost: number): Promise<string> {
  return (await readBytes(request, atMost)).toString('utf8');
}
