/** Label and field selectors of lists and watches. One pass over a text of bounded length. */
import { type ApiObject, isMap } from './objects.ts';
import { badRequest } from './refusal.ts';
import type { Resource } from './resources.ts';

export type Matches = (object: ApiObject) => boolean;

type Requirement = (labels: Readonly<Record<string, string>>) => boolean;

const LONGEST = 16 << 10;
const KEY = /^([A-Za-z0-9.-]{1,253}\/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/;

export function parseLabelSelector(text: string): Matches {
  if (text.length > LONGEST) throw badRequest(`the label selector is longer than ${LONGEST} characters`);
  if (text.trim() === '') return () => true;
  const requirements = splitOutside(text).map(parseRequirement);
  return ({ metadata }) => requirements.every((holds) => holds(metadata.labels ?? {}));
}

/** At commas that are not inside parentheses. */
function splitOutside(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '(') depth += 1;
    else if (sign === ')') depth -= 1;
    else if (sign === ',' && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return [...parts, text.slice(from)];
}

function parseRequirement(part: string): Requirement {
  const text = part.trim();
  const words = text.split(/\s+/);
  const [first = '', second = ''] = words;
  const operator = second.toLowerCase().split('(')[0];
  if (operator === 'in' || operator === 'notin') {
    const key = keyOf(first, text);
    const values = valuesOf(text);
    const isIn = operator === 'in';
    return (labels) => {
      const has = Object.hasOwn(labels, key) && values.has(labels[key] ?? '');
      return isIn ? has : !has;
    };
  }
  const different = text.indexOf('!=');
  if (different > 0) return not(equal(text.slice(0, different), text.slice(different + 2), text));
  const same = text.indexOf('=');
  if (same > 0) return equal(text.slice(0, same), text.slice(text[same + 1] === '=' ? same + 2 : same + 1), text);
  if (text.startsWith('!')) return not(exists(keyOf(text.slice(1).trim(), text)));
  return exists(keyOf(text, text));
}

const not =
  (holds: Requirement): Requirement =>
  (labels) =>
    !holds(labels);
const exists =
  (key: string): Requirement =>
  (labels) =>
    Object.hasOwn(labels, key);

function equal(left: string, right: string, text: string): Requirement {
  const key = keyOf(left.trim(), text);
  const value = right.trim();
  if (!VALUE.test(value)) throw unreadable(text);
  return (labels) => Object.hasOwn(labels, key) && labels[key] === value;
}

function keyOf(key: string, text: string): string {
  if (!KEY.test(key)) throw unreadable(text);
  return key;
}

function valuesOf(text: string): ReadonlySet<string> {
  const from = text.indexOf('(');
  if (from < 0 || !text.endsWith(')')) throw unreadable(text);
  const values = text
    .slice(from + 1, -1)
    .split(',')
    .map((value) => value.trim());
  if (!values.every((value) => VALUE.test(value))) throw unreadable(text);
  return new Set(values);
}

const unreadable = (text: string) =>
  badRequest(`unable to parse requirement: ${JSON.stringify(text.slice(0, 200))} is not a label requirement`);

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  pods: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  events: [
    ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
      (name) => `involvedObject.${name}`,
    ),
    ...['reason', 'reportingComponent', 'source', 'type'],
  ],
  secrets: ['type'],
  namespaces: ['status.phase'],
  nodes: ['spec.unschedulable'],
};

export function parseFieldSelector(text: string, { plural, group, version, kind }: Resource): Matches {
  if (text.length > LONGEST) throw badRequest(`the field selector is longer than ${LONGEST} characters`);
  if (text.trim() === '') return () => true;
  const known = new Set(['metadata.name', 'metadata.namespace', ...(FIELDS[plural] ?? [])]);
  const requirements = splitEscaped(text).map((part) => {
    const found = /^([^=!]+)(!=|==|=)(.*)$/s.exec(part);
    if (found === null)
      throw badRequest(
        `invalid selector: ${JSON.stringify(text.slice(0, 200))}; can't understand ${JSON.stringify(part.slice(0, 200))}`,
      );
    const [, field = '', operator, raw = ''] = found;
    if (!known.has(field)) {
      const name = `${group === '' ? '' : `${group}/`}${version}, Kind=${kind}`;
      throw badRequest(
        `Unable to find ${JSON.stringify(name)} that match label selector "", field selector ${JSON.stringify(text.slice(0, 200))}: field label not supported: ${field.slice(0, 100)}`,
      );
    }
    const value = raw.replaceAll(/\\([\\,=])/g, '$1');
    const isEqual = operator !== '!=';
    return (object: ApiObject) => (fieldOf(object, field) === value) === isEqual;
  });
  return (object) => requirements.every((holds) => holds(object));
}

/** At commas without a backslash before them. */
function splitEscaped(text: string): readonly string[] {
  return text.split(/(?<!\\),/);
}

function fieldOf(object: ApiObject, path: string): string {
  if (path === 'source' && object.kind === 'Event') {
    const { source, reportingComponent } = object as { source?: { component?: string }; reportingComponent?: string };
    return source?.component || reportingComponent || '';
  }
  let value: unknown = object;
  for (const step of path.split('.')) value = isMap(value) ? value[step] : undefined;
  return value === undefined || value === null
    ? path === 'spec.hostNetwork' || path === 'spec.unschedulable'
      ? 'false'
      : ''
    : String(value);
}
