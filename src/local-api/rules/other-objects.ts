/** Defaults and checks of the objects beside pods. */
import { type FieldError, forbidden, invalid, required } from '../../api/field-error.ts';
import { type ApiObject, mapOf } from './objects.ts';
import type { Resource } from './resources.ts';

type Fields = Readonly<Record<string, unknown>>;

const MOST_BYTES = 1 << 20;
const KEY = /^[-._a-zA-Z0-9]+$/;
const LONGEST_KEY = 253;
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

export function completeOther({ kind }: Resource, object: ApiObject): ApiObject {
  if (kind === 'Secret') return completeSecret(object);
  if (kind === 'Namespace') return completeNamespace(object);
  return object;
}

/** The plain texts become part of the data, where everyone reads them. */
function completeSecret(object: ApiObject): ApiObject {
  const { stringData, ...rest } = object as ApiObject & {
    stringData?: Readonly<Record<string, string>>;
    data?: Fields;
    type?: string;
  };
  const plain = Object.entries(stringData ?? {}).map(([key, text]) => [key, toBase64(text)]);
  const data = { ...rest.data, ...Object.fromEntries(plain) };
  return { ...rest, ...(Object.keys(data).length > 0 && { data }), type: rest.type || 'Opaque' } as ApiObject;
}

function toBase64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

function completeNamespace(object: ApiObject): ApiObject {
  const { name, labels } = object.metadata;
  const status = mapOf(object.status);
  return {
    ...object,
    metadata: { ...object.metadata, labels: { ...labels, 'kubernetes.io/metadata.name': name } },
    spec: { finalizers: ['kubernetes'] },
    status: { ...status, phase: object.metadata.deletionTimestamp === undefined ? 'Active' : 'Terminating' },
  };
}

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

export function checkOther({ kind }: Resource, object: ApiObject): readonly FieldError[] {
  const fields = object as unknown as {
    readonly data?: Fields;
    readonly binaryData?: Fields;
    readonly handler?: string;
  };
  switch (kind) {
    case 'Namespace':
      return LABEL.test(object.metadata.name) ? [] : [invalid('metadata.name', object.metadata.name, LABEL_RULE)];
    case 'ConfigMap':
      return [
        ...dataFaults('data', fields.data, false),
        ...dataFaults('binaryData', fields.binaryData, true),
        ...Object.keys(fields.binaryData ?? {})
          .filter((key) => Object.hasOwn(fields.data ?? {}, key))
          .map((key) => invalid('data', key, 'duplicate of key present in binaryData')),
        ...sizeFaults('', [fields.data, fields.binaryData]),
      ];
    case 'Secret':
      return [...dataFaults('data', fields.data, true), ...sizeFaults('data', [fields.data])];
    case 'RuntimeClass':
      return fields.handler ? [] : [required('handler')];
    case 'Event':
      return involvedFaults(object);
    default:
      return [];
  }
}

function involvedFaults(object: ApiObject): readonly FieldError[] {
  const { namespace = '' } = mapOf((object as { involvedObject?: unknown }).involvedObject) as { namespace?: string };
  const own = object.metadata.namespace ?? '';
  const isRight = namespace === own || (namespace === '' && own === 'default');
  return isRight ? [] : [invalid('involvedObject.namespace', namespace, 'does not match event.namespace')];
}

function dataFaults(path: string, data: Fields = {}, isBase64: boolean): readonly FieldError[] {
  return Object.entries(data).flatMap(([key, value]) => {
    const at = `${path}[${key.slice(0, LONGEST_KEY)}]`;
    const isKey = KEY.test(key) && key.length <= LONGEST_KEY && key !== '.' && !key.startsWith('..');
    const faults = isKey
      ? []
      : [
          invalid(
            at,
            key.slice(0, LONGEST_KEY),
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
          ),
        ];
    if (isBase64 && !BASE64.test(String(value))) faults.push(invalid(at, '<hidden>', 'must be base64'));
    return faults;
  });
}

function sizeFaults(path: string, parts: readonly (Fields | undefined)[]): readonly FieldError[] {
  const bytes = parts
    .flatMap((part) => Object.values(part ?? {}))
    .reduce((sum: number, value) => sum + String(value).length, 0);
  return bytes > MOST_BYTES ? [{ path, kind: 'Too long', detail: `may not be more than ${MOST_BYTES} bytes` }] : [];
}

/** Objects that the server itself made and that must stay. */
export function mayDelete({ kind }: Resource, name: string): FieldError | undefined {
  const fixed = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
  return kind === 'Namespace' && fixed.includes(name)
    ? forbidden('metadata.name', 'this namespace may not be deleted')
    : undefined;
}
