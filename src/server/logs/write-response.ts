/** Writes to a client no faster than it reads, and disconnects one that reads nothing. */
import type { ServerResponse } from 'node:http';
import { CodedError } from '../../base/errors.ts';
import { SLOWEST_CLIENT_MS } from '../answer.ts';

/** Resolves when the client can receive more; rejects when it has disconnected. */
export type WriteResponse = (bytes: Buffer) => Promise<void> | void;

export interface ResponseWriter {
  readonly write: WriteResponse;
  /** Ends the response. */
  end(): void;
}

/** The time runs only while data wait for the client: a follower of a silent log has no limit. */
export function createResponseWriter(response: ServerResponse, stallMs = SLOWEST_CLIENT_MS): ResponseWriter {
  // Called when the client has read no byte for that long, not when it is slow.
  response.once('timeout', () => response.destroy());
  const write: WriteResponse = (bytes) => {
    if (response.write(bytes)) return;
    return new Promise((resolve, reject) => {
      const onClose = () => {
        response.removeListener('drain', onDrain);
        reject(new CodedError('unavailable', 'the client has disconnected, or reads nothing'));
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
