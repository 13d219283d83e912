/** One moment of a chart, as the page receives it: the order of the values is part of the format. */

/** Cores, bytes of memory, bytes a second received and sent, read and written, and percent of time that processes waited for CPU, memory, disks. */
export const SERIES = [
  ...(['cpu', 'memory', 'received', 'sent', 'read', 'written'] as const),
  ...(['cpuWaiting', 'memoryWaiting', 'ioWaiting'] as const),
] as const;

export type SeriesName = (typeof SERIES)[number];
/** Null: not measured. */
export type Point = readonly [
  cpu: number | null,
  memory: number | null,
  received: number | null,
  sent: number | null,
  read: number | null,
  written: number | null,
  cpuWaiting: number | null,
  memoryWaiting: number | null,
  ioWaiting: number | null,
];
