/** What the server does with an object before it is kept: identity, defaults, validation, and what an update may change. */
import { type FieldError, forbidden, invalid } from '../../api/field-error.ts';
import { isDnsSubdomain, labelKeyFault, labelValueFault } from '../../api/names.ts';
import type { PodSpec } from '../../api/pod.ts';
import { sameJson } from '../../base/same-json.ts';
import { type ApiObject, mapOf, type ObjectMeta } from './objects.ts';
import { checkOther, completeOther } from './other-objects.ts';
import { resizedSpec } from './pod-resize.ts';
import { checkPodUpdate, completePod, type PodContext, validateNewPod } from './pod-strategy.ts';
import { badRequest, conflict, invalidObject, MODIFIED } from './refusal.ts';
import { groupVersion, type Resource } from './resources.ts';

export interface CreateContext extends PodContext {
  /** RFC 3339. */
  readonly now: string;
  readonly uid: string;
  /** Makes names of `generateName` different. */
  readonly suffix: string;
  readonly namespace: string;
}

type Fields = Readonly<Record<string, unknown>>;

const LONGEST_PREFIX = 58;

export function prepareNew(resource: Resource, value: Fields, context: CreateContext): ApiObject {
  checkHead(resource, value);
  const given = mapOf(value['metadata']) as Partial<ObjectMeta>;
  if (given.resourceVersion) throw badRequest('resourceVersion should not be set on objects to be created');
  const namespace = checkNamespace(resource, given.namespace, context.namespace);
  const name = given.name || (given.generateName ? given.generateName.slice(0, LONGEST_PREFIX) + context.suffix : '');
  const { deletionTimestamp: _, deletionGracePeriodSeconds: _grace, managedFields: _fields, ...kept } = given;
  const metadata: ObjectMeta = {
    ...kept,
    name,
    ...(resource.isNamespaced && { namespace }),
    uid: context.uid,
    resourceVersion: '',
    ...(resource.kind === 'Pod' && { generation: 1 }),
    creationTimestamp: context.now,
  };
  const head = { apiVersion: groupVersion(resource), kind: resource.kind };
  const object = { ...value, ...head, metadata } as ApiObject;
  const complete = resource.kind === 'Pod' ? completePod(object, context) : completeOther(resource, object);
  const faults =
    resource.kind === 'Pod'
      ? validateNewPod(complete, context)
      : [...metadataFaults(complete), ...checkOther(resource, complete)];
  if (faults.length > 0) throw invalidObject(resource, name, faults);
  return complete;
}

function checkHead(resource: Resource, { apiVersion, kind }: Fields): void {
  const expected = groupVersion(resource);
  if ((apiVersion ?? expected) !== expected) {
    throw badRequest(
      `the API version in the data (${String(apiVersion).slice(0, 100)}) does not match the expected API version (${expected})`,
    );
  }
  if ((kind ?? resource.kind) !== resource.kind) {
    throw badRequest(
      `${resource.kind} in version ${JSON.stringify(resource.version)} cannot be handled as a ${resource.kind}: the kind is ${JSON.stringify(String(kind).slice(0, 100))}`,
    );
  }
}

function checkNamespace(resource: Resource, given: string | undefined, asked: string): string {
  if (!resource.isNamespaced) return '';
  if (given !== undefined && given !== '' && given !== asked) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return asked;
}

export type Part = 'whole' | 'status' | 'ephemeralcontainers' | 'resize';

/** The object after an update; `current` itself where nothing changes. */
export function prepareUpdate(
  resource: Resource,
  current: ApiObject,
  given: { readonly value: Fields; readonly part: Part },
  context: PodContext,
): ApiObject {
  const { value, part } = given;
  checkHead(resource, value);
  const meta = mapOf(value['metadata']) as Partial<ObjectMeta>;
  checkIdentity(resource, current, meta);
  const next = mergeParts(resource, current, value, part);
  const faults = part === 'status' ? [] : updateFaults(resource, current, next, { part, context });
  if (faults.length > 0) throw invalidObject(resource, current.metadata.name, faults);
  if (sameJson(current, next)) return current;
  if (resource.kind !== 'Pod' || sameJson(current.spec, next.spec)) return next;
  return { ...next, metadata: { ...next.metadata, generation: (current.metadata.generation ?? 0) + 1 } };
}

function checkIdentity(resource: Resource, { metadata }: ApiObject, meta: Partial<ObjectMeta>): void {
  const { name, uid, resourceVersion } = metadata;
  if (meta.name !== undefined && meta.name !== '' && meta.name !== name) {
    throw badRequest(
      `the name of the object (${meta.name.slice(0, 253)}) does not match the name on the URL (${name})`,
    );
  }
  if (meta.namespace !== undefined && meta.namespace !== '' && meta.namespace !== (metadata.namespace ?? '')) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (meta.uid !== undefined && meta.uid !== '' && meta.uid !== uid) {
    throw conflict(
      resource,
      name,
      `Precondition failed: UID in precondition: ${meta.uid.slice(0, 100)}, UID in object meta: ${uid}`,
    );
  }
  if (meta.resourceVersion && meta.resourceVersion !== resourceVersion) throw conflict(resource, name, MODIFIED);
}

/** Fields of the metadata that callers may change; the others are the server's. */
const CALLERS_META = ['labels', 'annotations', 'ownerReferences', 'finalizers'] as const;

function mergeParts(resource: Resource, current: ApiObject, value: Fields, part: Part): ApiObject {
  if (part === 'status') {
    const { status: _, ...rest } = current;
    return value['status'] === undefined ? rest : { ...rest, status: value['status'] };
  }
  if (part === 'ephemeralcontainers') {
    const { ephemeralContainers } = mapOf(value['spec']);
    const spec = { ...mapOf(current.spec), ...(ephemeralContainers !== undefined && { ephemeralContainers }) };
    return completePod({ ...current, spec }, undefined);
  }
  if (part === 'resize') {
    const spec = resizedSpec(current.spec as PodSpec, value['spec']);
    return completePod({ ...current, spec }, undefined);
  }
  const meta: Fields = mapOf(value['metadata']);
  const kept = Object.fromEntries(
    Object.entries(current.metadata).filter(
      ([name]) => !CALLERS_META.some((one) => one === name) && name !== 'managedFields',
    ),
  ) as unknown as ObjectMeta;
  const changed = Object.fromEntries(
    [...CALLERS_META, 'managedFields'].flatMap((name) => (meta[name] === undefined ? [] : [[name, meta[name]]])),
  );
  const { apiVersion, kind } = current;
  const metadata = { ...kept, ...changed };
  // The status has a path of its own where there is one; elsewhere it is part of the whole.
  const hasStatus = resource.subresources?.some(({ name }) => name === 'status') ?? false;
  const { status: given, ...rest } = value;
  const status = hasStatus ? current.status : given;
  const next = { ...rest, apiVersion, kind, metadata, ...(status !== undefined && { status }) } as ApiObject;
  return resource.kind === 'Pod' ? completePod(next, undefined) : completeOther(resource, next);
}

interface UpdateOf {
  readonly part: Part;
  readonly context: PodContext;
}

function updateFaults(
  resource: Resource,
  current: ApiObject,
  next: ApiObject,
  { part, context }: UpdateOf,
): readonly FieldError[] {
  if (resource.kind === 'Pod') return [...metadataFaults(next), ...checkPodUpdate(current, next, { part, context })];
  const immutable = (current as { readonly immutable?: boolean }).immutable === true;
  const data = ['data', 'binaryData', 'immutable'] as const;
  const fieldsOf = (object: ApiObject): Fields => ({ ...object });
  const frozen = immutable
    ? data.filter((name) => !sameJson(fieldsOf(current)[name] ?? null, fieldsOf(next)[name] ?? null))
    : [];
  return [
    ...metadataFaults(next),
    ...frozen.map((name) => forbidden(name, 'field is immutable when `immutable` is set')),
    ...checkOther(resource, next),
  ];
}

const MOST_ANNOTATION_CHARACTERS = 256 * 1024;

export function metadataFaults({ metadata }: ApiObject): readonly FieldError[] {
  const { name, labels = {}, annotations = {}, finalizers = [] } = metadata;
  const faults: FieldError[] = [];
  const add = (path: string, value: unknown, fault: string | undefined) => {
    if (fault !== undefined) faults.push(invalid(path, value, fault));
  };
  if (name === '')
    faults.push({ path: 'metadata.name', kind: 'Required value', detail: 'name or generateName is required' });
  else if (!isDnsSubdomain(name)) add('metadata.name', name, SUBDOMAIN);
  for (const [key, value] of Object.entries(labels)) {
    add('metadata.labels', key, labelKeyFault(key));
    add('metadata.labels', value, labelValueFault(value));
  }
  for (const key of Object.keys(annotations)) add('metadata.annotations', key, labelKeyFault(key.toLowerCase()));
  const length = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (length > MOST_ANNOTATION_CHARACTERS) {
    faults.push({
      path: 'metadata.annotations',
      kind: 'Too long',
      detail: `may not be more than ${MOST_ANNOTATION_CHARACTERS} bytes`,
    });
  }
  finalizers.forEach((one, index) => {
    add(`metadata.finalizers[${index}]`, one, labelKeyFault(one));
  });
  return faults;
}

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
