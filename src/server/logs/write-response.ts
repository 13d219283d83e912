/** Writes to a client no faster than it takes it, and lets go of one that takes nothing. */
import type { ServerResponse } from 'node:http';
import { CodedError } from '../../base/errors.ts';
import { SLOWEST_CLIENT_MS } from '../answer.ts';

/** Resolves when more can be taken; rejects when the client has gone. */
export type WriteResponse = (bytes: Buffer) => Promise<void> | void;

export interface ResponseWriter {
  readonly write: WriteResponse;
  /** There is no more. */
  end(): void;
}

/** The time runs only while the client is waited for: a follower of a silent log may wait as long as it wants. */
export function createResponseWriter(response: ServerResponse, stallMs = SLOWEST_CLIENT_MS): ResponseWriter {
  // Told when the socket has taken no byte for that long, not when it is slow.
  response.once('timeout', () => response.destroy());
  const write: WriteResponse = (bytes) => {
    if (response.write(bytes)) return;
    return new Promise((resolve, reject) => {
      const onClose = () => {
        response.removeListener('drain', onDrain);
        reject(new CodedError('unavailable', 'the client has gone, or takes nothing'));
      };
      const onDrain = () => {
        response.setTimeout(0);
        response.removeListener('close', onClose);
        resolve();
      };
      response.setTimeout(stallMs);
      response.once('drain', onDrain);
      response.once('close', onClose);
      if (response.destroyed) onClose();
    });
  };
  return {
    write,
    end: () => {
      response.setTimeout(stallMs);
      response.end();
    },
  };
}
