/** The configuration as a table: each value, and where it came from. */

export interface ShownSetting {
  readonly name: string;
  readonly value: string;
  /** `--max-pods`, `/etc/kubelet.yaml:12`, or `default`. */
  readonly origin: string;
}

/** Lists and empty objects are values; other objects are taken apart. */
export function settingsTable(configuration: unknown, originOf: (path: string) => string): readonly ShownSetting[] {
  return [...leavesOf('', configuration)].map(([name, value]) => ({
    name,
    value: typeof value === 'string' ? value : JSON.stringify(value),
    origin: originOf(name),
  }));
}

function* leavesOf(path: string, value: unknown): Generator<readonly [string, unknown]> {
  const fields = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
  if (fields.length === 0) yield [path, value];
  for (const [name, field] of fields) yield* leavesOf(path === '' ? name : `${path}.${name}`, field);
}
