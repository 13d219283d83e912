/** A few shared buffers for reading files, each lent for one read: hundreds of readers hold none while their clients are slow. */
import { createTurns } from '../../base/turns.ts';

export interface ReadBuffers {
  lend(signal: AbortSignal): Promise<LentBuffer>;
  /** For synchronous reads: its content is used before other code runs. */
  readonly scratch: Buffer;
}

export interface LentBuffer extends Disposable {
  readonly buffer: Buffer;
}

/** More would only wait for Node's file threads. */
const AT_ONCE = 4;
const BYTES = 128 * 1024;
const NO_RANK: readonly number[] = [];

export function createReadBuffers(): ReadBuffers {
  const turns = createTurns(AT_ONCE);
  const free: Buffer[] = [];
  let scratch: Buffer | undefined;
  return {
    lend: async (signal) => {
      const turn = await turns.take(NO_RANK, signal);
      const buffer = free.pop() ?? Buffer.allocUnsafeSlow(BYTES);
      const giveBack = () => {
        free.push(buffer);
        turn[Symbol.dispose]();
      };
      return { buffer, [Symbol.dispose]: giveBack };
    },
    get scratch() {
      scratch ??= Buffer.allocUnsafeSlow(BYTES);
      return scratch;
    },
  };
}
