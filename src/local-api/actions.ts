/** Reading and writing objects: get, list, create, update, patch and delete. */
import type { Status } from '../api/status.ts';
import { formatTimestamp } from '../api/timestamp.ts';
import type { ApiConfig, ApiDeps, ApiRequest, ResourceTarget } from './api.ts';
import { createDeletions, type Deletions } from './deletions.ts';
import { applyConfiguration } from './rules/apply.ts';
import { decodeBody } from './rules/decode.ts';
import { isReadyToGo } from './rules/deletion.ts';
import { applyJsonPatch, applyMergePatch } from './rules/json-patch.ts';
import { type ApiObject, mapOf } from './rules/objects.ts';
import { completeOther } from './rules/other-objects.ts';
import { type Page, pageOf } from './rules/paging.ts';
import { alreadyExists, badRequest, forbidden, notAllowed, notFound, unsupportedType } from './rules/refusal.ts';
import { groupVersion, NAMESPACES, type Resource, SERVICE_ACCOUNTS } from './rules/resources.ts';
import { applyStrategicPatch } from './rules/strategic-patch.ts';
import { type Part, prepareNew, prepareUpdate } from './rules/strategy.ts';
import type { Decision, ObjectKey } from './store.ts';
import { issueToken } from './tokens.ts';
import { matcherOf } from './watches.ts';

export interface Done {
  readonly status: number;
  readonly object?: ApiObject | Status | undefined;
  readonly list?: Page;
  readonly warnings?: readonly string[];
}

export interface Actions {
  run(request: ApiRequest, target: ResourceTarget): Promise<Done>;
}

type Fields = Readonly<Record<string, unknown>>;

const APPLY = 'application/apply-patch+yaml';
const PATCHES: Readonly<Record<string, (target: unknown, patch: unknown) => unknown>> = {
  'application/json-patch+json': applyJsonPatch,
  'application/merge-patch+json': applyMergePatch,
  'application/strategic-merge-patch+json': applyStrategicPatch,
};

export function createActions(deps: ApiDeps, config: ApiConfig): Actions {
  const actions = new ObjectActions(deps, config);
  return { run: (request, target) => actions.run(request, target) };
}

const keyOf = ({ resource, namespace, name }: ResourceTarget): ObjectKey => ({
  resource: resource.plural,
  namespace,
  name,
});

/** From the object as it is to the fields of the next one. */
type Edit = (current: ApiObject) => { readonly value: Fields; readonly warnings: readonly string[] };

class ObjectActions implements Actions {
  readonly #deps: ApiDeps;
  readonly #config: ApiConfig;
  readonly #deletions: Deletions;

  constructor(deps: ApiDeps, config: ApiConfig) {
    this.#deps = deps;
    this.#config = config;
    this.#deletions = createDeletions(deps);
  }

  async run(request: ApiRequest, target: ResourceTarget): Promise<Done> {
    const { name, subresource } = target;
    if (subresource === 'eviction') {
      if (request.method !== 'POST') throw notAllowed();
      return await this.#deletions.evict(request, target);
    }
    if (subresource === 'token') {
      const issuer = `https://${this.#config.address}`;
      const token = await issueToken(this.#deps, request, target, issuer);
      return { status: 201, object: token as ApiObject };
    }
    switch (request.method) {
      case 'GET':
        return name === '' ? this.#list(request, target) : this.#get(target);
      case 'POST':
        if (name !== '') throw notAllowed();
        return await this.#create(request, target);
      case 'PUT':
        if (name === '') throw notAllowed();
        return await this.#update(request, target, () => decoded(target.resource, request));
      case 'PATCH':
        if (name === '') throw notAllowed();
        return await this.#patch(request, target);
      case 'DELETE':
        if (subresource !== '') throw notAllowed();
        if (name !== '') return await this.#deletions.one(request, target);
        return await this.#deletions.collection(request, target, matcherOf({ ...target, query: request.query }));
      default:
        throw notAllowed();
    }
  }

  #get(target: ResourceTarget): Done {
    const object = this.#deps.store.get(keyOf(target));
    if (object === undefined) throw notFound(target.resource, target.name);
    return { status: 200, object };
  }

  #list({ query }: ApiRequest, target: ResourceTarget): Done {
    const matches = matcherOf({ ...target, query });
    const { store } = this.#deps;
    const found = store.list(target.resource.plural, target.namespace).filter(matches);
    return { status: 200, list: pageOf(found, query, store.revision()) };
  }

  #now(): string {
    return formatTimestamp(this.#deps.clock.now());
  }

  async #create(request: ApiRequest, target: ResourceTarget): Promise<Done> {
    const { resource, namespace } = target;
    const { store, newUid, newSuffix } = this.#deps;
    if (resource.isNamespaced && namespace === '') throw notAllowed();
    const { value, warnings } = decoded(resource, request);
    const context = { ...this.#config, now: this.#now(), uid: newUid(), suffix: newSuffix(), namespace };
    const object = prepareNew(resource, value, context);
    await this.#checkNamespace(request, target);
    const key = keyOf({ ...target, name: object.metadata.name });
    const isDry = isDryRun(request);
    const made = await store.change(key, (current) => {
      if (current !== undefined) throw alreadyExists(resource, key.name);
      return isDry ? { kind: 'none' } : { kind: 'put', object, keeping: resource.keeping };
    });
    if (resource === NAMESPACES && !isDry) await makeDefaultAccount(this.#deps, key.name);
    return { status: 201, object: isDry ? object : made, warnings };
  }

  async #checkNamespace({ caller }: ApiRequest, { resource, namespace }: ResourceTarget): Promise<void> {
    if (!resource.isNamespaced) return;
    const found = this.#deps.store.get({ resource: NAMESPACES.plural, namespace: '', name: namespace });
    if (found === undefined && caller.role === 'node') {
      // A static pod may be in any namespace, and the node shows it.
      await makeNamespace(this.#deps, namespace);
      return;
    }
    if (found === undefined) throw notFound(NAMESPACES, namespace);
    if (found.metadata.deletionTimestamp === undefined) return;
    const message = `unable to create new content in namespace ${namespace} because it is being terminated`;
    const about = `namespace ${namespace} is being terminated`;
    const cause = { reason: 'NamespaceTerminating', message: about, field: 'metadata.namespace' };
    throw forbidden(`${resource.plural} is forbidden: ${message}`, { kind: resource.plural, causes: [cause] });
  }

  async #update(request: ApiRequest, target: ResourceTarget, edit: Edit): Promise<Done> {
    const { resource, name } = target;
    const part = partOf(target);
    const isDry = isDryRun(request);
    let warnings: readonly string[] = [];
    let result: ApiObject | undefined;
    const decide = (current: ApiObject | undefined): Decision => {
      if (current === undefined) throw notFound(resource, name);
      const edited = edit(current);
      warnings = edited.warnings;
      const next = prepareUpdate(resource, current, { value: edited.value, part }, this.#config);
      result = next;
      if (next === current || isDry) return { kind: 'none' };
      if (isReadyToGo(next)) return { kind: 'remove', last: next, keeping: resource.keeping };
      return { kind: 'put', object: next, keeping: resource.keeping };
    };
    const kept = await this.#deps.store.change(keyOf(target), decide);
    return { status: 200, object: isDry ? result : kept, warnings };
  }

  async #patch(request: ApiRequest, target: ResourceTarget): Promise<Done> {
    if (request.type === APPLY) return await this.#apply(request, target);
    const edit = Object.hasOwn(PATCHES, request.type) ? PATCHES[request.type] : undefined;
    if (edit === undefined) throw unsupportedType(request.type.slice(0, 100), [...Object.keys(PATCHES), APPLY]);
    return await this.#update(request, target, (current) =>
      decoded(target.resource, request, edit(current, request.body)),
    );
  }

  async #apply(request: ApiRequest, target: ResourceTarget): Promise<Done> {
    const { resource, name } = target;
    const { store } = this.#deps;
    const manager = request.query.get('fieldManager') ?? '';
    if (manager === '') throw badRequest(NO_MANAGER);
    const { value, warnings } = decoded(resource, request);
    const force = request.query.get('force') === 'true';
    const how = { manager, force, now: this.#now(), apiVersion: groupVersion(resource) };
    if (store.get(keyOf(target)) !== undefined) {
      const edit: Edit = (current) => ({ value: applyConfiguration({ ...current }, value, how), warnings });
      return await this.#update(request, target, edit);
    }
    const { managedFields } = mapOf(applyConfiguration({}, value, how)['metadata']);
    const body = { ...value, metadata: { name, ...mapOf(value['metadata']) } };
    const made = await this.#create({ ...request, body }, target);
    if (isDryRun(request)) return made;
    // The owner of the fields is noted on top of what creation has made of them.
    const object = await store.change(keyOf(target), (current) => {
      if (current === undefined) return { kind: 'none' };
      const metadata = { ...current.metadata, managedFields } as ApiObject['metadata'];
      return { kind: 'put', object: { ...current, metadata }, keeping: resource.keeping };
    });
    return { ...made, object };
  }
}

const NO_MANAGER = 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch';

/** The namespaces that a cluster begins with, and those of static pods. */
export async function makeNamespace(
  { store, clock, newUid }: Pick<ApiDeps, 'store' | 'clock' | 'newUid'>,
  name: string,
): Promise<void> {
  const metadata = { name, uid: newUid(), resourceVersion: '', creationTimestamp: formatTimestamp(clock.now()) };
  const object = completeOther(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata });
  await store.change({ resource: NAMESPACES.plural, namespace: '', name }, (current) =>
    current === undefined ? { kind: 'put', object, keeping: NAMESPACES.keeping } : { kind: 'none' },
  );
  await makeDefaultAccount({ store, clock, newUid }, name);
}

/** Every namespace has it: pods that name no service account have this one. */
async function makeDefaultAccount(
  { store, clock, newUid }: Pick<ApiDeps, 'store' | 'clock' | 'newUid'>,
  namespace: string,
): Promise<void> {
  const { plural, kind, keeping } = SERVICE_ACCOUNTS;
  const name = 'default';
  const creationTimestamp = formatTimestamp(clock.now());
  const metadata = { name, namespace, uid: newUid(), resourceVersion: '', creationTimestamp };
  await store.change({ resource: plural, namespace, name }, (current) =>
    current === undefined ? { kind: 'put', object: { apiVersion: 'v1', kind, metadata }, keeping } : { kind: 'none' },
  );
}

function partOf({ subresource }: ResourceTarget): Part {
  if (subresource === '') return 'whole';
  if (subresource === 'status' || subresource === 'ephemeralcontainers' || subresource === 'resize') return subresource;
  throw notAllowed();
}

export const isDryRun = ({ query }: Pick<ApiRequest, 'query'>): boolean => {
  const values = query.getAll('dryRun');
  if (values.some((value) => value !== 'All')) throw badRequest('Invalid value: dryRun must be All');
  return values.length > 0;
};

/** The body with fields of the right kinds. Unknown fields are refused, reported or ignored, as the caller says. */
function decoded(
  resource: Resource,
  { query, body: given }: ApiRequest,
  body: unknown = given,
): { value: Fields; warnings: readonly string[] } {
  const { value, warnings } = decodeBody(resource, body);
  switch (query.get('fieldValidation') ?? 'Warn') {
    case 'Ignore':
      return { value, warnings: [] };
    case 'Warn':
      return { value, warnings };
    case 'Strict':
      if (warnings.length === 0) return { value, warnings };
      throw badRequest(
        `${resource.kind} in version ${JSON.stringify(resource.version)} cannot be handled as a ${resource.kind}: strict decoding error: ${warnings.join(', ')}`,
      );
    default:
      throw badRequest('Invalid value: fieldValidation must be one of Ignore, Warn, Strict');
  }
}
