/** Parses a query of the node's own logs: `/logs/?query=kubelet&tailLines=100`. Errors have the texts of the reference. */
import { type FieldError, formatFieldError, invalid, required, tooMany } from '../../../api/field-error.ts';
import { parseTimestamp } from '../../../api/timestamp.ts';
import { quoteText } from '../../../base/go-text.ts';

export interface NodeLogOptions {
  /** As given, RFC 3339. */
  readonly sinceTime?: string;
  readonly untilTime?: string;
  readonly tailLines?: number;
  readonly boot?: number;
  readonly pattern?: string;
}

export interface NodeLogQuery {
  readonly services: readonly string[];
  readonly files: readonly string[];
  readonly options: NodeLogOptions;
}

export type ParsedNodeLogQuery =
  | { readonly kind: 'none' }
  | { readonly kind: 'query'; readonly query: NodeLogQuery }
  | { readonly kind: 'undecodable'; readonly text: string };

const MOST_SERVICES = 4;
const LONGEST_SERVICE = 256;
const MOST_LINES = 100_000;

/** Several errors are one text in brackets, each once. */
export function joinErrors(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map(formatFieldError))];
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
}

export function parseNodeLogQuery(given: URLSearchParams): ParsedNodeLogQuery {
  const errors: FieldError[] = [];
  const queries = given.getAll('query');
  // A value with a slash is a file.
  const files = queries.filter((one) => /[/\\]/.test(one));
  const services = queries.filter((one) => !/[/\\]/.test(one) && one.trim() !== '');
  if (given.has('query') && files.length + services.length === 0) {
    errors.push(invalid('query', queries, 'may not be empty'));
  }
  const time = (name: string) => {
    const text = given.get(name) || undefined;
    if (text !== undefined && parseTimestamp(text) === undefined)
      errors.push(invalid(name, text, 'invalid time format'));
    return text;
  };
  const number = (name: string) => {
    const text = given.get(name) || undefined;
    if (text === undefined || /^[+-]?\d{1,15}$/.test(text)) return text === undefined ? undefined : Number(text);
    errors.push(invalid(name, text, `strconv.Atoi: parsing ${quoteText(text)}: invalid syntax`));
    return undefined;
  };
  const options = defined({
    sinceTime: time('sinceTime'),
    untilTime: time('untilTime'),
    boot: number('boot'),
    tailLines: number('tailLines'),
    pattern: given.get('pattern') || undefined,
  });
  if (errors.length > 0) return { kind: 'undecodable', text: joinErrors(errors) };
  const isEmpty = queries.length === 0 && Object.keys(options).length === 0;
  return isEmpty ? { kind: 'none' } : { kind: 'query', query: { services, files, options } };
}

function defined(
  options: { readonly [Name in keyof NodeLogOptions]: NodeLogOptions[Name] | undefined },
): NodeLogOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** The problems of a parsed query; whether a file exists is checked later. */
export function validateNodeLogQuery({ services, files, options }: NodeLogQuery): readonly FieldError[] {
  const { sinceTime, untilTime, boot, tailLines, pattern } = options;
  const errors: FieldError[] = [];
  for (const service of services) {
    const problem = serviceProblem(service);
    if (problem !== undefined) errors.push(invalid('query', service, problem));
  }
  if (services.length > MOST_SERVICES) errors.push(tooMany('query', services.length, MOST_SERVICES));
  if (files.length + services.length === 0) errors.push(required('query', 'cannot be empty with options'));
  else if (files.length > 0 && services.length > 0) {
    const both = `[${files.join(' ')}], [${services.join(' ')}]`;
    errors.push(invalid('query', both, 'cannot specify a file and service'));
  } else if (files.length > 1) errors.push(invalid('query', files, 'cannot specify more than one file'));
  else if (files.length === 1 && Object.keys(options).length > 0) {
    errors.push(invalid('query', files, 'cannot specify file with options'));
  }
  const [since, until] = [parseTimestamp(sinceTime ?? ''), parseTimestamp(untilTime ?? '')];
  if (since !== undefined && until !== undefined && since > until) {
    errors.push(invalid('untilTime', untilTime, 'must be after `sinceTime`'));
  }
  if (boot !== undefined && boot > 0) errors.push(invalid('boot', boot, 'must be less than 1'));
  if (tailLines !== undefined && (tailLines < 0 || tailLines > MOST_LINES)) {
    errors.push(invalid('tailLines', tailLines, `must be between 0 and ${MOST_LINES}, inclusive`));
  }
  const problem = patternProblem(pattern);
  if (problem !== undefined) errors.push(invalid('pattern', pattern, problem));
  return errors;
}

function serviceProblem(service: string): string | undefined {
  if (service.length > LONGEST_SERVICE) return `length must be less than ${LONGEST_SERVICE}`;
  // They become arguments of a program.
  return /[^a-zA-Z\-_.:0-9@]/.test(service) ? 'input contains unsupported characters' : undefined;
}

function patternProblem(pattern: string | undefined): string | undefined {
  if (pattern === undefined) return undefined;
  try {
    new RegExp(pattern);
    return undefined;
  } catch (error) {
    return `error parsing regexp: ${error instanceof Error ? error.message : pattern}`;
  }
}

/** Arguments of journalctl; times as seconds since 1970, which are independent of the time zone. */
export function journalArguments(services: readonly string[], options: NodeLogOptions): readonly string[] {
  const { sinceTime, untilTime, tailLines, pattern, boot } = options;
  return [
    ...['--utc', '--no-pager', '--output=short-precise'],
    ...(sinceTime === undefined ? [] : [`--since=${journalTime(sinceTime)}`]),
    ...(untilTime === undefined ? [] : [`--until=${journalTime(untilTime)}`]),
    ...(tailLines === undefined ? [] : ['--pager-end', `--lines=${tailLines}`]),
    ...services.map((service) => `--unit=${service}`),
    ...(pattern === undefined ? [] : [`--grep=${pattern}`]),
    ...(boot === undefined ? [] : ['--boot', String(boot)]),
  ];
}

const journalTime = (time: string): string => `@${Math.floor((parseTimestamp(time) ?? 0) / 1000)}`;

/** The possible log files of a service, below the directory of logs, the likeliest first. */
export function logFilesOf(service: string): readonly string[] {
  return [service, `${service}.log`, `${service}/${service}.log`];
}
