/** Dates of HTTP headers, from and to milliseconds since 1970: `Sun, 06 Nov 1994 08:49:37 GMT`. */
import { formatTimestamp, parseTimestamp } from './timestamp.ts';

const DAY_MS = 86_400_000;
/** 1 January 1970 was a Thursday. */
const DAYS = ['Thu', 'Fri', 'Sat', 'Sun', 'Mon', 'Tue', 'Wed'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

export function formatHttpDate(ms: number): string {
  const [date = '', clock = ''] = formatTimestamp(ms).slice(0, -1).split('T');
  const [year, month, day] = date.split('-');
  const weekday = DAYS[((Math.floor(ms / DAY_MS) % 7) + 7) % 7];
  return `${weekday}, ${day} ${MONTHS[Number(month) - 1]} ${year} ${clock} GMT`;
}

/** Undefined for anything else. */
export function parseHttpDate(text: string): number | undefined {
  const match = /^[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d:\d\d:\d\d) GMT$/.exec(text);
  if (match === null) return undefined;
  const [, day = '', name = '', year = '', clock = ''] = match;
  const month = MONTHS.indexOf(name) + 1;
  return month === 0 ? undefined : parseTimestamp(`${year}-${String(month).padStart(2, '0')}-${day}T${clock}Z`);
}
