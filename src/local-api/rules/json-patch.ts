/** JSON patches (RFC 6902) and merge patches (RFC 7386). */
import { sameJson } from '../../base/same-json.ts';
import { isMap } from './objects.ts';
import { badRequest, Refusal } from './refusal.ts';

export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch;
  const result: Record<string, unknown> = Object.assign(Object.create(null), isMap(target) ? target : {});
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = applyMergePatch(result[key], value);
  }
  return { ...result };
}

/** As many as the API server takes. */
const MOST_OPERATIONS = 10_000;

export function applyJsonPatch(target: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) throw badRequest('error decoding patch: a JSON patch must be a list of operations');
  if (patch.length > MOST_OPERATIONS) {
    throw new Refusal(
      413,
      'RequestEntityTooLarge',
      `The allowed maximum operations in a JSON patch is ${MOST_OPERATIONS}, got ${patch.length}`,
      {},
    );
  }
  let result = target;
  for (const operation of patch) result = applyOperation(result, operation);
  return result;
}

function applyOperation(target: unknown, operation: unknown): unknown {
  if (!isMap(operation)) throw badRequest('error decoding patch: an operation must be an object');
  const { op, path, from, value } = operation;
  if (typeof path !== 'string') throw badRequest('error decoding patch: an operation needs a path');
  const steps = stepsOf(path);
  switch (op) {
    case 'add':
      return changeAt(target, steps, { kind: 'add', value: required(operation, 'value', value) });
    case 'replace':
      return changeAt(target, steps, { kind: 'replace', value: required(operation, 'value', value) });
    case 'remove':
      return changeAt(target, steps, { kind: 'remove' });
    case 'test':
      if (!sameJson(valueAt(target, steps), value)) throw unprocessable(`testing value ${path} failed`);
      return target;
    case 'copy':
      return changeAt(target, steps, { kind: 'add', value: valueAt(target, stepsOf(String(from))) });
    case 'move': {
      if (path.startsWith(`${String(from)}/`)) throw unprocessable(`${path} is inside of what is moved`);
      const moved = valueAt(target, stepsOf(String(from)));
      return changeAt(changeAt(target, stepsOf(String(from)), { kind: 'remove' }), steps, {
        kind: 'add',
        value: moved,
      });
    }
    default:
      throw badRequest(`error decoding patch: unknown operation ${JSON.stringify(op)?.slice(0, 100)}`);
  }
}

const unprocessable = (text: string) =>
  new Refusal(
    422,
    'Invalid',
    `the server rejected our request due to an error in our request: ${text.slice(0, 300)}`,
    {},
  );

function required(operation: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  if (!Object.hasOwn(operation, name)) throw badRequest(`error decoding patch: an operation needs a ${name}`);
  return value;
}

function stepsOf(path: string): readonly string[] {
  if (path === '') return [];
  if (!path.startsWith('/'))
    throw badRequest(`error decoding patch: the path ${JSON.stringify(path.slice(0, 200))} must begin with /`);
  return path
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

type Edit = { readonly kind: 'add' | 'replace'; readonly value: unknown } | { readonly kind: 'remove' };

function changeAt(target: unknown, [step, ...rest]: readonly string[], edit: Edit): unknown {
  if (step === undefined) return edit.kind === 'remove' ? null : edit.value;
  const isLast = rest.length === 0;
  if (Array.isArray(target)) {
    const index = indexOf(step, target.length, isLast && edit.kind === 'add');
    if (!isLast) return target.with(index, changeAt(target[index], rest, edit));
    if (edit.kind === 'add') return target.toSpliced(index, 0, edit.value);
    return edit.kind === 'remove' ? target.toSpliced(index, 1) : target.with(index, edit.value);
  }
  if (!isMap(target)) throw unprocessable(`there is no place for ${JSON.stringify(step.slice(0, 100))}`);
  const isThere = Object.hasOwn(target, step);
  if (!isThere && (!isLast || edit.kind !== 'add'))
    throw unprocessable(`doc is missing key: ${JSON.stringify(step.slice(0, 100))}`);
  const { [step]: old, ...others } = target;
  if (isLast && edit.kind === 'remove') return others;
  return { ...target, [step]: isLast && edit.kind !== 'remove' ? edit.value : changeAt(old, rest, edit) };
}

function valueAt(target: unknown, steps: readonly string[]): unknown {
  let value = target;
  for (const step of steps) {
    if (Array.isArray(value)) value = value[indexOf(step, value.length, false)];
    else if (isMap(value) && Object.hasOwn(value, step)) value = value[step];
    else throw unprocessable(`doc is missing key: ${JSON.stringify(step.slice(0, 100))}`);
  }
  return value;
}

function indexOf(step: string, length: number, isNew: boolean): number {
  if (step === '-' && isNew) return length;
  const index = /^(0|[1-9]\d{0,8})$/.test(step) ? Number(step) : Number.NaN;
  if (!(index < length || (isNew && index === length)))
    throw unprocessable(`the index ${JSON.stringify(step.slice(0, 100))} is out of bounds`);
  return index;
}
