/** gRPC's framing: one flag byte, four bytes of length, the message. */
import { CodedError } from '../base/errors.ts';

const PREFIX = 5;

export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(PREFIX + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, PREFIX);
  return framed;
}

/**
 * Cuts chunks of a stream into messages. Chunks are kept as they come and joined once for each message; a message that
 * lies within one chunk is not copied at all, so its bytes are good only during the call.
 */
export class FrameReader {
  private chunks: Buffer[] = [];
  private held = 0;
  /** Bytes needed before anything can happen: the prefix, then the whole frame. */
  private needed = PREFIX;
  private readonly what: string;
  private readonly largest: number;
  private readonly onMessage: (message: Buffer) => void;

  constructor(what: string, largest: number, onMessage: (message: Buffer) => void) {
    this.what = what;
    this.largest = largest;
    this.onMessage = onMessage;
  }

  push(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.held += chunk.length;
    while (this.held >= this.needed) this.cut();
  }

  /** Throws if the stream ended within a message. */
  end(): void {
    if (this.held > 0)
      throw new CodedError(
        'invalid',
        `${this.what}: the stream ended within a message, ${this.held} bytes of ${this.needed}`,
      );
  }

  private cut(): void {
    const first = this.chunks[0];
    const bytes = this.chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.chunks, this.held);
    if (this.needed === PREFIX) {
      this.chunks = [bytes];
      this.needed = PREFIX + this.lengthOf(bytes);
      if (this.held < this.needed) return;
    }
    const message = bytes.subarray(PREFIX, this.needed);
    const rest = bytes.subarray(this.needed);
    this.chunks = rest.length === 0 ? [] : [rest];
    this.held = rest.length;
    this.needed = PREFIX;
    this.onMessage(message);
  }

  private lengthOf(bytes: Buffer): number {
    if (bytes[0] !== 0)
      throw new CodedError('unsupported', `${this.what}: the peer sent a compressed message without being asked`);
    const length = bytes.readUInt32BE(1);
    if (length > this.largest) {
      throw new CodedError(
        'exhausted',
        `${this.what}: a message of ${length} bytes, at most ${this.largest} are taken`,
      );
    }
    return length;
  }
}
