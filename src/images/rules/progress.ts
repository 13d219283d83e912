/** The report about a pull that takes long: how long it has taken, and the bytes received where the runtime reports them. */
import { formatDuration } from '../../api/duration.ts';
import { quoteText } from '../../base/go-text.ts';

/** A part of an image that is being downloaded. */
export interface Download {
  readonly receivedBytes: number;
  /** 0 where it is not known. */
  readonly totalBytes: number;
  /** Wall clock, ms; undefined where it is not known. */
  readonly startedAt?: number | undefined;
}

const FIRST_MS = 15_000;
const LONGEST_GAP_MS = 4 * 60_000;

/** When to report next, in milliseconds since the pull was requested: 15 s, 30 s, 1 min, 2 min, 4 min, then every 4 min. */
export function nextReport(reportedAt: number): number {
  return reportedAt === 0 ? FIRST_MS : reportedAt + Math.min(reportedAt, LONGEST_GAP_MS);
}

/** `downloads` undefined: the runtime does not report them. Empty: it downloads nothing at the moment, so it waits or unpacks. */
export function describeProgress(image: string, afterMs: number, downloads: readonly Download[] | undefined): string {
  const start = `Still pulling image ${quoteText(image)} after ${formatDuration(Math.round(afterMs / 1000) * 1000)}`;
  if (downloads === undefined || downloads.length === 0) return start;
  const received = sum(downloads.map(({ receivedBytes }) => receivedBytes));
  const known = downloads.every(({ totalBytes }) => totalBytes > 0);
  const total = known ? ` of ${formatMegabytes(sum(downloads.map(({ totalBytes }) => totalBytes)))}` : '';
  const layers = downloads.length === 1 ? '1 layer' : `${downloads.length} layers`;
  return `${start}: ${formatMegabytes(received)}${total} received of ${layers} under way`;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const formatMegabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
