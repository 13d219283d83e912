/** One connection to the API server, whatever its protocol. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { HttpReply } from '../wire/http-reply.ts';

export interface Call {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer | undefined;
  /** Its answer goes on until somebody ends it: such a call is cut when the connection is to be renewed. */
  readonly endless: boolean;
}

export interface Link {
  /**
   * Rejects with an `unavailable` error where no answer comes; its data say `{ refused: true }` where the server has certainly
   * not looked at the call. An abort rejects with the signal's reason.
   */
  open(call: Call, signal: AbortSignal): Promise<HttpReply>;
  /** Whether one more call may be opened now. */
  hasRoom(): boolean;
  /** Calls under way. */
  active(): number;
  /** Takes no more calls, cuts the endless ones, and closes when the others are through. */
  retire(reason: Error): void;
  /** Fails everything that is under way. */
  destroy(reason: Error): void;
  /** Bytes that came in so far. */
  received(): number;
  /** Resolves when the other side answers; never rejects. Undefined where the protocol has no such question. */
  readonly ping: (() => Promise<void>) | undefined;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  /** Set by a call that got no answer in time: somebody should ping. */
  onSuspicion(listener: () => void): void;
}
