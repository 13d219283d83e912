/** Bytes that wait to be written. What was added in many small pieces is written in few large ones. */
export interface OutputQueue {
  /** How many wait. */
  bytes(): number;
  add(piece: Buffer): void;
  /** What is to be written next; empty only where nothing waits. */
  next(): Buffer;
  /** So many bytes of `next` were written. */
  written(bytes: number): void;
}

const NOTHING = Buffer.alloc(0);

export function createOutputQueue(): OutputQueue {
  let head: Buffer = NOTHING;
  let behind: Buffer[] = [];
  let waiting = 0;
  return {
    bytes: () => waiting,
    add: (piece) => {
      behind.push(piece);
      waiting += piece.length;
    },
    next: () => {
      if (head.length === 0) {
        head = behind.length === 1 && behind[0] !== undefined ? behind[0] : Buffer.concat(behind);
        behind = [];
      }
      return head;
    },
    written: (bytes) => {
      head = head.subarray(bytes);
      waiting -= bytes;
      // A piece of a large buffer would keep all of it in memory.
      if (waiting === 0) head = NOTHING;
    },
  };
}
