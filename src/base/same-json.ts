/** Whether two JSON values say the same. A field that is absent and one that is null or undefined are alike. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (isNothing(left) || isNothing(right)) return isNothing(left) && isNothing(right);
  if (typeof left !== 'object' || typeof right !== 'object') return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => sameJson(item, right[index]));
  }
  return sameFields(left as Fields, right as Fields);
}

type Fields = Readonly<Record<string, unknown>>;

function sameFields(left: Fields, right: Fields): boolean {
  for (const name of Object.keys(left)) if (!sameJson(left[name], ownField(right, name))) return false;
  return Object.keys(right).every((name) => Object.hasOwn(left, name) || isNothing(right[name]));
}

function ownField(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}
