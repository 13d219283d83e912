/** Waits for the head of an HTTP/1.1 response to a request that was sent with Node's client. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/** A response whose body has still to be read (see http-body.ts) or canceled. */
export interface HttpReply {
  readonly httpStatus: number;
  /** The name in lower case. */
  header(name: string): string | undefined;
  readonly body: Readable;
  /** Drops what has not been read, and the connection with it. */
  cancel(): void;
}

export type UpgradeReply =
  | { readonly kind: 'upgraded'; readonly response: IncomingMessage; readonly socket: Socket; readonly head: Buffer }
  | { readonly kind: 'response'; readonly reply: HttpReply };

/** Rejects with the signal's reason, or with the error that Node gave. An abort after the head is for the reader of the body to notice. */
export function awaitReply(outgoing: ClientRequest, signal: AbortSignal): Promise<HttpReply> {
  return awaitHead(outgoing, signal, (resolve) => {
    outgoing.once('response', (response) => resolve(replyOf(outgoing, response)));
  });
}

/** As `awaitReply`, for a request after which the server may change the protocol. The socket is the caller's then. */
export function awaitUpgrade(outgoing: ClientRequest, signal: AbortSignal): Promise<UpgradeReply> {
  return awaitHead<UpgradeReply>(outgoing, signal, (resolve) => {
    outgoing.once('upgrade', (response, socket, head) => resolve({ kind: 'upgraded', response, socket, head }));
    outgoing.once('response', (response) => resolve({ kind: 'response', reply: replyOf(outgoing, response) }));
  });
}

function awaitHead<Head>(
  outgoing: ClientRequest,
  signal: AbortSignal,
  listen: (resolve: (head: Head) => void) => void,
): Promise<Head> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      reject(signal.reason);
      outgoing.destroy();
    };
    const settle = () => signal.removeEventListener('abort', onAbort);
    const fail = (error: unknown) => {
      settle();
      reject(error);
    };
    // Stays for the life of the request: an error without any listener would end the process.
    outgoing.on('error', fail);
    outgoing.once('close', () => fail(new Error('closed before the answer')));
    listen((head) => {
      settle();
      resolve(head);
    });
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

function replyOf(outgoing: ClientRequest, response: IncomingMessage): HttpReply {
  // The reader of the body listens too; without a listener an error between the two would end the process.
  response.on('error', () => undefined);
  return {
    httpStatus: response.statusCode ?? 0,
    header: (name) => {
      const value = response.headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
    body: response,
    cancel: () => outgoing.destroy(),
  };
}
