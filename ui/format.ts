/** Numbers and times as people read them. */

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  const power = Math.min(Math.max(Math.floor(Math.log2(Math.max(value, 1)) / 10), 0), UNITS.length - 1);
  const scaled = value / 1024 ** power;
  return `${scaled.toFixed(power === 0 || scaled >= 100 ? 0 : 1)} ${UNITS[power]}`;
}

export const perSecond = (value: number | null | undefined): string =>
  value === null || value === undefined ? '–' : `${bytes(value)}/s`;

export function cores(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  return value < 1 ? `${Math.round(value * 1000)} m` : `${value.toFixed(2)}`;
}

export const percent = (value: number | null | undefined): string =>
  value === null || value === undefined ? '–' : `${value.toFixed(1)} %`;

const STEPS: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'm'],
];

/** The largest two units, as kubectl shows ages. */
export function age(ms: number): string {
  const seconds = Math.max(Math.floor(ms / 1000), 0);
  for (const [index, [length, unit]] of STEPS.entries()) {
    if (seconds < 2 * length) continue;
    const whole = Math.floor(seconds / length);
    const [nextLength, nextUnit] = STEPS[index + 1] ?? [1, 's'];
    const rest = Math.floor((seconds % length) / nextLength);
    return rest === 0 || whole >= 10 ? `${whole}${unit}` : `${whole}${unit}${rest}${nextUnit}`;
  }
  return `${seconds}s`;
}
