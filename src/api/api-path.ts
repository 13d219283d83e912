/**
 * Paths and selectors of requests to the API server. Names come from pod specs, so this is the only way to make them: the client
 * takes nothing else.
 */
import { CodedError } from '../base/errors.ts';

declare const brand: unique symbol;
/** Without the server: `/api/v1/namespaces/x/pods/y/status`. */
export type ApiPath = string & { readonly [brand]: 'ApiPath' };
export type FieldSelector = string & { readonly [brand]: 'FieldSelector' };

/**
 * apiPath`/api/v1/namespaces/${namespace}/pods/${name}`: each value is one segment. Throws an `invalid` error for a name that could
 * lead to another resource.
 */
export function apiPath(fixed: TemplateStringsArray, ...names: readonly string[]): ApiPath {
  return String.raw({ raw: fixed }, ...names.map(segment)) as ApiPath;
}

/** One name below a path, or a fixed word such as `status`. */
export function apiPathBelow(path: ApiPath, name: string): ApiPath {
  return `${path}/${segment(name)}` as ApiPath;
}

/** `metadata.name=x`, with what means something in selectors escaped. */
export function fieldEquals(field: string, value: string): FieldSelector {
  return `${field}=${value.replaceAll(/[\\,=]/g, String.raw`\$&`)}` as FieldSelector;
}

/**
 * Encoding alone is not enough: the API server decodes a path before it splits it, so `web%2Fstatus` would be a subresource, and a
 * proxy in between may resolve `..`. client-go refuses the same names.
 */
function segment(name: string): string {
  if (name === '' || name === '.' || name === '..' || /[/%]/.test(name) || !name.isWellFormed()) {
    throw new CodedError('invalid', `invalid resource name ${JSON.stringify(name)}: it can't be part of a path`);
  }
  return encodeURIComponent(name);
}
