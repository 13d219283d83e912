/** What the node, its pods and their containers use at one moment, for charts. Counters grow; a chart shows by how much a second. */

export interface Transfer {
  readonly in: number;
  readonly out: number;
}

/** Percent of the last ten seconds in which some process waited. */
export interface Waiting {
  readonly cpu: number;
  readonly memory: number;
  readonly io: number;
}

export interface Usage {
  /** Nanoseconds, a counter. */
  readonly cpu: number;
  /** Bytes of the working set. */
  readonly memory: number;
  /** Bytes, counters; undefined where they were not read. */
  readonly network: Transfer | undefined;
  /** Bytes read and written, counters; undefined where they were not read. */
  readonly disk: Transfer | undefined;
  /** Undefined where the kernel does not measure it. */
  readonly waiting: Waiting | undefined;
}

export interface PodSample extends Usage {
  readonly uid: string;
  readonly containers: readonly (Usage & { readonly name: string })[];
}

export interface UsageSample {
  /** Wall clock, ms. */
  readonly time: number;
  readonly node: Usage;
  readonly pods: readonly PodSample[];
}
