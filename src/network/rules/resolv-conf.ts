/** resolv.conf, as far as it concerns pods. */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';

export interface DnsConfig {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  /** `name` or `name:value`. */
  readonly options: readonly string[];
}

export const emptyDnsConfig: DnsConfig = { servers: [], searches: [], options: [] };

/** Name servers add up, the last search line wins, and so does the last value of an option. Other lines are ignored. */
export function parseResolvConf(text: string): Parsed<DnsConfig> {
  const servers: string[] = [];
  let searches: readonly string[] = [];
  let options: readonly string[] = [];
  for (const line of text.split('\n')) {
    const [keyword = '', ...values] = line.trim().split(/\s+/);
    if (keyword === 'nameserver') {
      const [server] = values;
      if (server === undefined) return unparsable('nameserver list is empty');
      servers.push(server);
    } else if (keyword === 'search') {
      // A domain is the same with and without the dot at its end, so that limits count it once.
      searches = values.filter((domain) => domain !== '.').map((domain) => domain.replace(/\.$/, ''));
    } else if (keyword === 'options') {
      options = mergeOptions(options, values);
    }
  }
  return parsed({ servers, searches, options });
}

/** Later options replace earlier ones of the same name, in their place. */
export function mergeOptions(before: readonly string[], later: readonly string[]): readonly string[] {
  const byName = new Map<string, string>();
  for (const option of [...before, ...later]) byName.set(option.split(':')[0] ?? '', option);
  return [...byName.values()];
}
