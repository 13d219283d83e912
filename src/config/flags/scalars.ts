import { formatDuration, parseDuration } from '../../api/duration.ts';
import { parseIpAddress } from '../../api/ip-address.ts';
import { formatQuantity, parseQuantity } from '../../api/quantity.ts';
import { parseGoBool } from '../rules/go-bool.ts';
import { bad, type Kind, keep, type Parsed, value } from './kind.ts';

export const boolean: Kind<boolean> = {
  label: '',
  bare: 'true',
  parse: (text) => {
    const parsed = parseGoBool(text);
    return parsed === undefined ? bad('true or false') : value(parsed);
  },
  format: String,
};

export const string: Kind<string> = { label: 'string', parse: (text) => value(text), format: (text) => text };

/** A string with a few allowed values. */
export function oneOf(...choices: readonly string[]): Kind<string> {
  const allowed = choices.map((choice) => (choice === '' ? 'nothing' : choice)).join(', ');
  return {
    label: 'string',
    parse: (text) => (choices.includes(text) ? value(text) : bad(`one of: ${allowed}`)),
    format: (text) => text,
  };
}

/** Several values in one argument, without quoting: `--node-ip=192.0.2.1,2001:db8::1`. The last use counts. */
export const commaSeparated: Kind<readonly string[]> = {
  label: 'list',
  parse: (text) => value(text === '' ? [] : text.split(',').map((part) => part.trim())),
  format: (list) => list.join(','),
};

export const int32 = wholeNumber('int32', -(2 ** 31), 2 ** 31 - 1);
/** Go's 64-bit integers, as far as a number holds them exactly. */
export const int64 = wholeNumber('int', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
export const portNumber = wholeNumber('port', 0, 65535);

function wholeNumber(label: string, from: number, to: number): Kind<number> {
  return {
    label,
    parse: (text) => {
      const parsed = parseWholeNumber(text);
      if (parsed === undefined || parsed < BigInt(from) || parsed > BigInt(to)) {
        return bad(`a whole number from ${from} to ${to}`);
      }
      return value(Number(parsed));
    },
    format: String,
  };
}

const goInteger = /^([+-]?)(0[xX](_?[0-9a-fA-F])+|0[bB](_?[01])+|0[oO]?(_?[0-7])+|0|[1-9](_?[0-9])*)$/;

/** The forms of Go's strconv.ParseInt with base 0: 42, 0x2a, 0o52, 052, 0b101010, 1_000. */
function parseWholeNumber(text: string): bigint | undefined {
  const match = goInteger.exec(text);
  if (match === null) return undefined;
  const digits = (match[2] ?? '').replaceAll('_', '');
  const magnitude = BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits);
  return match[1] === '-' ? -magnitude : magnitude;
}

/** A log level: decimal only, and not negative, as in klog. */
export const level: Kind<number> = { label: 'level', parse: parseLevel, format: String };

export function parseLevel(text: string): Parsed<number> {
  return /^\d{1,10}$/.test(text) && Number(text) < 2 ** 31 ? value(Number(text)) : bad('a number from 0 to 2147483647');
}

export const duration: Kind<number> = {
  label: 'duration',
  parse: (text) => {
    const parsed = parseDuration(text);
    return parsed.ok ? value(parsed.value) : bad('a duration with its unit, such as 300ms, 20s or 1h30m');
  },
  format: formatDuration,
};

export const quantity: Kind<string> = {
  label: 'quantity',
  parse: (text) => {
    const parsed = parseQuantity(text);
    return parsed.ok ? value(formatQuantity(parsed.value)) : bad('a quantity, such as 512, 64Ki or 10M');
  },
  format: (text) => text,
};

/** An empty address changes nothing, as in the reference. */
export const ip: Kind<string> = {
  label: 'ip',
  parse: (text) => {
    if (text === '') return keep;
    return parseIpAddress(text) === undefined ? bad('an IPv4 or IPv6 address') : value(text);
  },
  format: (text) => text,
};
