/**
 * What an unquoted YAML scalar means. The reference reads YAML 1.1 with a few habits of its own (`yes` is a boolean,
 * `010` is eight, `1_000` a thousand, sexagesimals and dates are text); a file must mean the same to both kubelets.
 */
export type Scalar =
  | { readonly kind: 'null' }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'int'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string };

const TRUE = new Set(['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON']);
const FALSE = new Set(['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF']);
const NULL = new Set(['', '~', 'null', 'Null', 'NULL']);
const NOT_FINITE: ReadonlyMap<string, number> = new Map([
  ['.nan', Number.NaN],
  ['.inf', Number.POSITIVE_INFINITY],
  ['+.inf', Number.POSITIVE_INFINITY],
  ['-.inf', Number.NEGATIVE_INFINITY],
]);
const INTEGER = /^([+-]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const LARGEST_INTEGER = 2n ** 64n - 1n;
const SMALLEST_INTEGER = -(2n ** 63n);

export function resolvePlain(text: string): Scalar {
  if (NULL.has(text)) return { kind: 'null' };
  if (TRUE.has(text)) return { kind: 'bool', value: true };
  if (FALSE.has(text)) return { kind: 'bool', value: false };
  const notFinite = /^[+-]?\.(?:nan|NaN|NAN|inf|Inf|INF)$/.test(text) ? NOT_FINITE.get(text.toLowerCase()) : undefined;
  if (notFinite !== undefined) return { kind: 'float', value: notFinite };
  return resolveNumber(text) ?? { kind: 'string', value: text };
}

function resolveNumber(text: string): Scalar | undefined {
  if (!/^[-+.0-9]/.test(text)) return undefined;
  const digits = text.startsWith('.') ? text : text.replaceAll('_', '');
  const integer = readInteger(digits);
  if (integer !== undefined) return { kind: 'int', value: integer };
  const float = FLOAT.test(digits) ? Number(digits) : Number.NaN;
  return Number.isFinite(float) ? { kind: 'float', value: float } : undefined;
}

function readInteger(text: string): bigint | undefined {
  const [matched, sign, hexadecimal, binary, octal, decimal = ''] = INTEGER.exec(text) ?? [];
  if (matched === undefined) return undefined;
  const prefixed =
    (hexadecimal && `0x${hexadecimal}`) || (binary && `0b${binary}`) || (octal && `0o${octal}`) || decimal;
  const value = sign === '-' ? -BigInt(prefixed) : BigInt(prefixed);
  return value > LARGEST_INTEGER || value < SMALLEST_INTEGER ? undefined : value;
}

/** A scalar with a tag of its own, such as `!!str 5`; undefined where the text is nothing of that kind. */
export function resolveTagged(tag: string, text: string): Scalar | undefined {
  const name = tag.replace(/^tag:yaml\.org,2002:/, '');
  if (!['null', 'bool', 'int', 'float'].includes(name)) return { kind: 'string', value: text };
  const scalar = resolvePlain(text);
  if (name === 'float' && scalar.kind === 'int') return { kind: 'float', value: Number(scalar.value) };
  return scalar.kind === name ? scalar : undefined;
}
