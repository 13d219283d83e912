import { parseTimestamp } from '../../api/timestamp.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Milliseconds of a Date header such as `Sun, 15 Nov 2026 17:00:00 GMT`; undefined for anything else. */
export function parseHttpDate(text: string): number | undefined {
  const match = /^[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d:\d\d:\d\d) GMT$/.exec(text);
  if (match === null) return undefined;
  const [, day = '', name = '', year = '', clock = ''] = match;
  const month = MONTHS.indexOf(name) + 1;
  return month === 0 ? undefined : parseTimestamp(`${year}-${String(month).padStart(2, '0')}-${day}T${clock}Z`);
}
