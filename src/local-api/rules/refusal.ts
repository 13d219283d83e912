/** Requests that are refused, in the words of the API server. */
import { type FieldError, formatFieldError } from '../../api/field-error.ts';
import { failureStatus, type Status } from '../../api/status.ts';
import { quoteText } from '../../base/go-text.ts';
import { qualified, RESOURCES, type Resource } from './resources.ts';

/** Carries a Status out of the depth of a request; the request's handler answers it. */
export class Refusal extends Error {
  readonly status: Status;

  constructor(code: number, reason: string, message: string, details?: Status['details']) {
    super(message);
    this.status = failureStatus(code, { reason, message, ...(details && { details }) });
  }
}

type Named = Pick<Resource, 'group' | 'plural'>;
const detailsOf = ({ group, plural }: Named, name: string) => ({
  ...(name !== '' && { name }),
  ...(group !== '' && { group }),
  kind: plural,
});

export const notFound = (resource: Named, name: string): Refusal =>
  new Refusal(404, 'NotFound', `${qualified(resource)} ${quoteText(name)} not found`, detailsOf(resource, name));

export const alreadyExists = (resource: Named, name: string): Refusal =>
  new Refusal(
    409,
    'AlreadyExists',
    `${qualified(resource)} ${quoteText(name)} already exists`,
    detailsOf(resource, name),
  );

export const conflict = (resource: Named, name: string, why: string): Refusal =>
  new Refusal(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(resource)} ${quoteText(name)}: ${why}`,
    detailsOf(resource, name),
  );

export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

export const badRequest = (message: string): Refusal => new Refusal(400, 'BadRequest', message);

export const unknownPath = (): Refusal =>
  new Refusal(404, 'NotFound', 'the server could not find the requested resource', {});

export const notAllowed = (): Refusal =>
  new Refusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

export const unsupportedType = (type: string, supported: readonly string[]): Refusal =>
  new Refusal(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format (${quoteText(type)}) - accepted media types include: ${supported.join(', ')}`,
    {},
  );

export const expired = (requested: number, oldest: number): Refusal =>
  new Refusal(410, 'Expired', `too old resource version: ${requested} (${oldest})`);

export const needsControlPlane = (kind: string): Refusal =>
  new Refusal(
    405,
    'MethodNotAllowed',
    `${kind} needs a control plane, and this node has none; it accepts ${RESOURCES.map(qualified).join(', ')}`,
    {},
  );

const CAUSES: Readonly<Record<FieldError['kind'], string>> = {
  'Required value': 'FieldValueRequired',
  'Invalid value': 'FieldValueInvalid',
  'Unsupported value': 'FieldValueNotSupported',
  'Duplicate value': 'FieldValueDuplicate',
  Forbidden: 'FieldValueForbidden',
  'Too long': 'FieldValueTooLong',
  'Too many': 'FieldValueTooMany',
  'Not found': 'FieldValueNotFound',
};

const MOST_CAUSES = 100;

export function invalidObject(
  resource: Named & Pick<Resource, 'kind'>,
  name: string,
  faults: readonly FieldError[],
): Refusal {
  const shown = faults.slice(0, MOST_CAUSES);
  const texts = shown.map(formatFieldError);
  const kind = resource.group === '' ? resource.kind : `${resource.kind}.${resource.group}`;
  const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  const causes = shown.map((fault, index) => ({
    reason: CAUSES[fault.kind],
    message: (texts[index] ?? '').slice(fault.path.length + 2),
    field: fault.path,
  }));
  return new Refusal(422, 'Invalid', `${kind} ${quoteText(name)} is invalid: ${text}`, {
    ...(name !== '' && { name }),
    ...(resource.group !== '' && { group: resource.group }),
    kind: resource.kind,
    causes,
  });
}

export const forbidden = (message: string, details?: Status['details']): Refusal =>
  new Refusal(403, 'Forbidden', message, details);

export const success = (resource: Named, name: string, uid: string): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details: { ...detailsOf(resource, name), uid },
});

/** Asked again later, the answer may be another. */
export const unavailable = (message: string): Refusal => new Refusal(503, 'ServiceUnavailable', message, {});
