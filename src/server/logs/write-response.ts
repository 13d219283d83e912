/** Writes to a client no faster than it takes it. */
import type { ServerResponse } from 'node:http';
import { CodedError } from '../../base/errors.ts';
import { SLOWEST_CLIENT_MS } from '../answer.ts';

/** Resolves when more can be taken; rejects when the client has gone, or takes nothing for so long that it may as well have. */
export type WriteResponse = (bytes: Buffer) => Promise<void> | void;

export function createResponseWriter(response: ServerResponse, slowestMs = SLOWEST_CLIENT_MS): WriteResponse {
  // Node closes a connection on which nothing moved for so long; a log that is silent may stay so for longer.
  const limitStall = (ms: number) => void response.socket?.setTimeout(ms);
  return (bytes) => {
    if (response.write(bytes)) return;
    limitStall(slowestMs);
    return new Promise((resolve, reject) => {
      const onClose = () => {
        response.removeListener('drain', onDrain);
        reject(new CodedError('unavailable', 'the client has gone'));
      };
      const onDrain = () => {
        response.removeListener('close', onClose);
        limitStall(0);
        resolve();
      };
      response.once('drain', onDrain);
      response.once('close', onClose);
      if (response.destroyed) onClose();
    });
  };
}
