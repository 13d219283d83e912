/** Times as the API writes them (RFC 3339 in UTC, whole seconds), from and to milliseconds since 1970. */
const DAY = 86_400;
const SHAPE = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/;

const two = (value: number): string => String(value).padStart(2, '0');

export function formatTimestamp(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const days = Math.floor(seconds / DAY);
  const rest = seconds - days * DAY;
  const { year, month, day } = civilDate(days);
  const clock = [Math.floor(rest / 3600), Math.floor(rest / 60) % 60, rest % 60].map(two).join(':');
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${clock}Z`;
}

/** A MicroTime of the API, such as a lease has: with six digits after the point. */
export function formatMicroTime(ms: number): string {
  const fraction = String(Math.floor(ms * 1000) % 1_000_000).padStart(6, '0');
  return formatTimestamp(ms).replace('Z', `.${fraction}Z`);
}

/** With nine digits after the point, of which milliseconds fill three: as annotations of the kubelet have it. */
export function formatNanoTime(ms: number): string {
  return formatMicroTime(Math.floor(ms)).replace('Z', '000Z');
}

/** Milliseconds, or undefined for what is no such time. */
export function parseTimestamp(text: string): number | undefined {
  const match = SHAPE.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const seconds = dayNumber(year, month, day) * DAY + hour * 3600 + minute * 60 + second;
  const fraction = Number(`0.${match[7] ?? '0'}`);
  return (seconds - zoneSeconds(match[8] ?? 'Z')) * 1000 + Math.floor(fraction * 1000);
}

function zoneSeconds(zone: string): number {
  if (zone === 'Z') return 0;
  const [hours = 0, minutes = 0] = zone.slice(1).split(':').map(Number);
  return (zone.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/** Days since 1970. Years are counted from March, so that the leap day is the last of its year. */
export function dayNumber(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1;
  const monthFromMarch = (month + 9) % 12;
  const dayOfYear = Math.floor((153 * monthFromMarch + 2) / 5) + day - 1;
  return shifted * 365 + leapDays(shifted) + dayOfYear - EPOCH;
}

const leapDays = (year: number): number => Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400);

/** 1 March of the year 0 to 1 January 1970, in days. */
const EPOCH = 719_468;

function civilDate(days: number): { readonly year: number; readonly month: number; readonly day: number } {
  // The mean year gives a first guess that is at most one off.
  let year = Math.floor((days + EPOCH) / 365.2425);
  if (dayNumber(year, 3, 1) > days) year -= 1;
  else if (dayNumber(year + 1, 3, 1) <= days) year += 1;
  const dayOfYear = days - dayNumber(year, 3, 1);
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = ((monthFromMarch + 2) % 12) + 1;
  return { year: month <= 2 ? year + 1 : year, month, day };
}

function daysInMonth(year: number, month: number): number {
  const next = month === 12 ? dayNumber(year + 1, 1, 1) : dayNumber(year, month + 1, 1);
  return next - dayNumber(year, month, 1);
}
