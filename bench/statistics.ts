/** The middle, and the value below which a share of the samples lie; between two samples, in proportion. */
export function percentile(samples: readonly number[], share: number): number {
  if (samples.length === 0) throw new Error('no samples: there is no percentile of nothing');
  if (!(share >= 0 && share <= 1)) throw new Error(`percentile ${share}: allowed are 0 to 1`);
  const sorted = [...samples].sort((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}

export const median = (samples: readonly number[]): number => percentile(samples, 0.5);
export const ninetieth = (samples: readonly number[]): number => percentile(samples, 0.9);
export const last = (samples: readonly number[]): number => percentile(samples, 1);
