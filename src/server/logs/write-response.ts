/** Writes to a client no faster than it takes it. */
import type { ServerResponse } from 'node:http';
import { CodedError } from '../../base/errors.ts';

/** Resolves when more can be taken; rejects when the client has gone. */
export type WriteResponse = (bytes: Buffer) => Promise<void> | void;

export function createResponseWriter(response: ServerResponse): WriteResponse {
  return (bytes) => {
    if (response.write(bytes)) return;
    return new Promise((resolve, reject) => {
      const onClose = () => {
        response.removeListener('drain', onDrain);
        reject(new CodedError('unavailable', 'the client has gone'));
      };
      const onDrain = () => {
        response.removeListener('close', onClose);
        resolve();
      };
      response.once('drain', onDrain);
      response.once('close', onClose);
      if (response.destroyed) onClose();
    });
  };
}
