/** The requests of the local API: what each does with the store, and what is answered. Knows nothing of HTTP connections. */
import type { Status } from '../api/status.ts';
import type { Clock } from '../base/clock.ts';
import { codeOf, describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type Actions, createActions } from './actions.ts';
import { createDocuments, type Documents } from './documents.ts';
import { type Caller, checkAccess } from './rules/access.ts';
import type { VersionInfo } from './rules/discovery.ts';
import type { ApiObject } from './rules/objects.ts';
import type { Page } from './rules/paging.ts';
import type { PodContext } from './rules/pod-strategy.ts';
import {
  badRequest,
  needsControlPlane,
  notAllowed,
  notFound,
  Refusal,
  unavailable,
  unknownPath,
} from './rules/refusal.ts';
import { groupVersion, type Resource } from './rules/resources.ts';
import { type IncludeObject, tableOf } from './rules/tables.ts';
import { type Target, targetOf } from './rules/target.ts';
import type { SigningKey } from './signing-key.ts';
import type { Store } from './store.ts';
import { openIdDocument } from './tokens.ts';
import { openWatch, type WatchEvents } from './watches.ts';

export interface ApiRequest {
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The JSON of the body; undefined: none. */
  readonly body: unknown;
  /** The content type, without parameters. */
  readonly type: string;
  readonly accept: string;
  readonly caller: Caller;
}

export type ApiAnswer =
  | { readonly kind: 'answer'; readonly status: number; readonly body: unknown; readonly warnings: readonly string[] }
  | { readonly kind: 'bytes'; readonly type: string; readonly body: Uint8Array }
  | { readonly kind: 'watch'; readonly events: WatchEvents };

export interface Api {
  handle(request: ApiRequest): Promise<ApiAnswer>;
}

export interface ApiDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: Store;
  readonly newUid: () => string;
  readonly signingKey: SigningKey;
  /** Five random letters for `generateName`. */
  readonly newSuffix: () => string;
}

export interface ApiConfig extends PodContext, VersionInfo {
  /** `127.0.0.1:10260`. */
  readonly address: string;
}

export type ResourceTarget = Extract<Target, { kind: 'resource' }>;

export function createApi(deps: ApiDeps, config: ApiConfig): Api {
  const documents = createDocuments(config);
  const actions = createActions(deps, config);
  return {
    handle: async (request) => {
      try {
        return await answerTo(request, { deps, documents, actions, issuer: `https://${config.address}` });
      } catch (error) {
        return failure(error, deps.log);
      }
    },
  };
}

interface Parts {
  readonly deps: ApiDeps;
  readonly documents: Documents;
  readonly actions: Actions;
  readonly issuer: string;
}

async function answerTo(request: ApiRequest, parts: Parts): Promise<ApiAnswer> {
  // Their paths look like those of objects.
  if (parts.documents.find(request.path)?.kind === 'review') return documentAnswer(request, parts.documents);
  const target = targetOf(request.path);
  if (target.kind === 'document')
    return (await openIdAnswer(request, parts)) ?? documentAnswer(request, parts.documents);
  if (target.kind === 'elsewhere') {
    // A client that applies asks first whether the object is there.
    if (request.method === 'GET' && target.name !== '') throw notFound(target, target.name);
    throw needsControlPlane(target.object);
  }
  checkAccess(request.caller, request.method, target);
  if (!parts.deps.store.isOpen()) throw unavailable('the objects of this node can not be read yet: its log says why');
  return await resourceAnswer(request, target, parts);
}

async function openIdAnswer({ method, path }: ApiRequest, { deps, issuer }: Parts): Promise<ApiAnswer | undefined> {
  if (method !== 'GET') return undefined;
  const answer = (body: object): ApiAnswer => ({ kind: 'answer', status: 200, body, warnings: [] });
  if (path === '/openid/v1/jwks') return answer(await deps.signingKey.publicKeys());
  return path === '/.well-known/openid-configuration' ? answer(openIdDocument(issuer)) : undefined;
}

function documentAnswer(request: ApiRequest, documents: Documents): ApiAnswer {
  const found = documents.find(request.path);
  if (found === undefined) throw unknownPath();
  if (request.method !== 'GET' && !(request.method === 'POST' && found.kind === 'review')) throw notAllowed();
  if (found.kind === 'bytes') return found;
  const body = found.kind === 'review' ? found.answer(request.body, request.caller) : found.body;
  return { kind: 'answer', status: request.method === 'POST' ? 201 : 200, body, warnings: [] };
}

async function resourceAnswer(request: ApiRequest, target: ResourceTarget, parts: Parts): Promise<ApiAnswer> {
  const { method, query } = request;
  const { name, subresource } = target;
  const { actions, deps } = parts;
  const known = target.resource.subresources?.some((one) => one.name === subresource) ?? false;
  if (subresource !== '' && !known) throw unknownPath();
  // Before a watch begins: nothing can be refused once its answer is under way.
  if (isTable(request)) includeOf(request);
  if (method === 'GET' && name === '' && isTrue(query.get('watch'))) {
    const shape = (object: ApiObject) => shaped(request, target.resource, object, deps);
    return { kind: 'watch', events: openWatch(deps, { ...target, query, shape }) };
  }
  const { status, object, list, warnings = [] } = await actions.run(request, target);
  const body =
    list === undefined
      ? shaped(request, target.resource, object, deps)
      : shapedList(request, target.resource, list, deps);
  return { kind: 'answer', status, body, warnings };
}

export const isTrue = (value: string | null): boolean => value === 'true' || value === '1' || value === '';

const TABLE = /as=Table/;

function isTable({ accept }: ApiRequest): boolean {
  // The first form that the client names is the one that it prefers.
  return TABLE.test(accept.split(',')[0] ?? '');
}

/** A single object, as a table where that was asked for. */
function shaped(
  request: ApiRequest,
  resource: Resource,
  object: ApiObject | Status | undefined,
  { clock }: ApiDeps,
): unknown {
  if (object === undefined || object.kind === 'Status' || object.kind !== resource.kind || !isTable(request))
    return object;
  const one = object as ApiObject;
  const meta = { resourceVersion: one.metadata.resourceVersion };
  return tableOf(resource, [one], meta, { now: clock.now(), include: includeOf(request) });
}

function shapedList(request: ApiRequest, resource: Resource, { items, meta }: Page, { clock }: ApiDeps): unknown {
  if (isTable(request)) return tableOf(resource, items, meta, { now: clock.now(), include: includeOf(request) });
  return { kind: `${resource.kind}List`, apiVersion: groupVersion(resource), metadata: meta, items };
}

function includeOf({ query }: ApiRequest): IncludeObject {
  const include = query.get('includeObject') ?? 'Metadata';
  if (include === 'Metadata' || include === 'Object' || include === 'None') return include;
  throw badRequest(
    `Invalid value: ${JSON.stringify(include.slice(0, 100))}: includeObject must be one of None, Metadata, Object`,
  );
}

function failure(error: unknown, log: Logger): ApiAnswer {
  if (error instanceof Refusal) {
    return { kind: 'answer', status: error.status.code ?? 500, body: error.status, warnings: [] };
  }
  const text = describeError(error);
  const isFull = codeOf(error) === 'exhausted';
  if (!isFull) log.error('A request to the local API failed', { err: error });
  const refusal = isFull
    ? new Refusal(507, 'InsufficientStorage', `Internal error occurred: ${text}`)
    : new Refusal(500, 'InternalError', `Internal error occurred: ${text}`, {
        causes: [{ reason: '', message: text }],
      });
  return { kind: 'answer', status: refusal.status.code ?? 500, body: refusal.status, warnings: [] };
}
