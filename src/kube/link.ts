/** One connection to the API server, whatever its protocol. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { HttpReply } from '../wire/http-reply.ts';

export interface Call {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer | undefined;
  /** A watch: its answer has no end of its own, so it is cut when the connection is renewed. */
  readonly endless: boolean;
}

export interface Link {
  /**
   * Rejects with an `unavailable` error if there is no answer; its data are `{ refused: true }` if the server has certainly
   * not processed the call. An abort rejects with the signal's reason.
   */
  open(call: Call, signal: AbortSignal): Promise<HttpReply>;
  /** Whether one more call may be opened now. */
  hasRoom(): boolean;
  /** Calls under way. */
  active(): number;
  /** Takes no more calls, cuts the endless ones, and closes after the others. */
  retire(reason: Error): void;
  /** Fails every call under way. */
  destroy(reason: Error): void;
  /** Bytes received so far. */
  received(): number;
  /** Resolves when the other side answers; never rejects. Undefined if the protocol has no pings. */
  readonly ping: (() => Promise<void>) | undefined;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  /** Called after a call without an answer in time: the connection should be pinged. */
  onSuspicion(listener: () => void): void;
}
