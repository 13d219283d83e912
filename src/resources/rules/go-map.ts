/** Maps as Go writes them: sorted by key. Keys that are numbers would be put in another order by an object of ours. */
type Entry = readonly [string, string];

const sorted = (entries: Iterable<Entry>): readonly Entry[] => [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));

/** As JSON; the values are JSON already. */
export const jsonMap = (entries: Iterable<Entry>): string =>
  `{${sorted(entries)
    .map(([key, value]) => `${JSON.stringify(key)}:${value}`)
    .join(',')}}`;

/** As the printer writes them whose text checksums are made of. */
export const printedMap = (entries: Iterable<Entry>): string =>
  `map[${sorted(entries)
    .map(([key, value]) => `${key}:${value}`)
    .join(' ')}]`;
