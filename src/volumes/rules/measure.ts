/** When a volume is measured. */

export interface MeasureInput {
  /** Undefined: there is nothing to measure yet. */
  readonly readySince: number | undefined;
  readonly measuredAt: number | undefined;
  readonly periodMs: number;
}

/** The first time soon after it is ready, so that a pod's numbers are not missing for a whole period. */
export const FIRST_MEASURE_MS = 5000;

export function nextMeasure({ readySince, measuredAt, periodMs }: MeasureInput): number | undefined {
  if (readySince === undefined) return undefined;
  return measuredAt === undefined ? readySince + Math.min(FIRST_MEASURE_MS, periodMs) : measuredAt + periodMs;
}
