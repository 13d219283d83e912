/** Deletes: of one object, of a collection, by eviction; and namespaces, which go when nothing is left in them. */
import { formatTimestamp } from '../api/timestamp.ts';
import type { Done } from './actions.ts';
import type { ApiDeps, ApiRequest, ResourceTarget } from './api.ts';
import { decodeOptions } from './rules/decode.ts';
import { type DeleteOptions, planDeletion } from './rules/deletion.ts';
import { type ApiObject, mapOf } from './rules/objects.ts';
import { mayDelete } from './rules/other-objects.ts';
import { badRequest, forbidden, notAllowed, notFound, success } from './rules/refusal.ts';
import { NAMESPACES, RESOURCES } from './rules/resources.ts';
import { DELETE_OPTIONS } from './rules/schemas.ts';
import type { Matches } from './rules/selectors.ts';
import type { Decision } from './store.ts';

export interface Deletions {
  one(request: ApiRequest, target: ResourceTarget): Promise<Done>;
  collection(request: ApiRequest, target: ResourceTarget, matches: Matches): Promise<Done>;
  evict(request: ApiRequest, target: ResourceTarget): Promise<Done>;
}

interface Options extends DeleteOptions {
  readonly dryRun: boolean;
}

export function createDeletions({ store, clock, log }: ApiDeps): Deletions {
  const timestampIn = (seconds: number) => formatTimestamp(clock.now() + seconds * 1000);

  const report = (namespace: string, err: unknown): void =>
    log.error('Failed to empty a namespace, deleting it again continues', { namespace, err });

  const remove = async (
    { resource, namespace, name }: ResourceTarget,
    options: Options,
  ): Promise<{ object: ApiObject; isGone: boolean }> => {
    let isGone = false;
    let result: ApiObject | undefined;
    const decide = (current: ApiObject | undefined): Decision => {
      if (current === undefined) throw notFound(resource, name);
      const plan = planDeletion(resource, current, options, timestampIn);
      result = plan.kind === 'mark' ? plan.object : current;
      isGone = plan.kind === 'remove';
      if (plan.kind === 'none' || options.dryRun) return { kind: 'none' };
      if (plan.kind === 'mark') return { kind: 'put', object: plan.object, keeping: resource.keeping };
      return { kind: 'remove', last: current, keeping: resource.keeping };
    };
    const kept = await store.change({ resource: resource.plural, namespace, name }, decide);
    return { object: (options.dryRun ? result : kept) as ApiObject, isGone };
  };

  const one = async (target: ResourceTarget, options: Options): Promise<Done> => {
    const { resource, name } = target;
    const refusal = mayDelete(resource, name);
    if (refusal !== undefined)
      throw forbidden(`${resource.plural} ${JSON.stringify(name)} is forbidden: ${refusal.detail}`, {
        name,
        kind: resource.plural,
      });
    const { object, isGone } = await remove(target, options);
    if (resource === NAMESPACES && !options.dryRun) void empty(name);
    const isPod = resource.kind === 'Pod';
    return { status: 200, object: isGone && !isPod ? success(resource, name, object.metadata.uid) : object };
  };

  /** Deletes what is in a namespace, and the namespace when the last of it is gone. */
  const empty = async (namespace: string): Promise<void> => {
    try {
      for (const resource of RESOURCES.filter(({ isNamespaced }) => isNamespaced)) {
        for (const { metadata } of store.list(resource.plural, namespace)) {
          await remove(
            { kind: 'resource', resource, namespace, name: metadata.name, subresource: '' },
            { dryRun: false },
          );
        }
      }
      const isEmpty = () =>
        RESOURCES.every(({ isNamespaced, plural }) => !isNamespaced || store.list(plural, namespace).length === 0);
      const finish = () => {
        if (!isEmpty()) return;
        stop?.();
        store
          .change({ resource: NAMESPACES.plural, namespace: '', name: namespace }, (current) =>
            current?.metadata.deletionTimestamp === undefined
              ? { kind: 'none' }
              : { kind: 'remove', last: current, keeping: NAMESPACES.keeping },
          )
          .catch((err: unknown) => report(namespace, err));
      };
      const stop = store.watch(store.revision(), ({ after }) => {
        if (after === undefined) finish();
      });
      finish();
    } catch (err) {
      report(namespace, err);
    }
  };

  return {
    one: (request, target) => one(target, optionsOf(request)),
    collection: async (request, target, matches) => {
      const { resource, namespace } = target;
      if (resource === NAMESPACES) throw notAllowed();
      const options = optionsOf(request);
      const found = store.list(resource.plural, namespace).filter(matches);
      for (const { metadata } of found) {
        await remove({ ...target, namespace: metadata.namespace ?? '', name: metadata.name }, options).catch(
          (error: unknown) => {
            // It may have gone meanwhile.
            if (store.get({ resource: resource.plural, namespace: metadata.namespace ?? '', name: metadata.name }))
              throw error;
          },
        );
      }
      return { status: 200, list: { items: found, meta: { resourceVersion: String(store.revision()) } } };
    },
    evict: async (request, target) => {
      const { deleteOptions } = mapOf(request.body);
      const { object } = await remove(target, optionsOf({ ...request, body: deleteOptions }));
      return { status: 201, object: success(target.resource, target.name, object.metadata.uid) };
    },
  };
}

function optionsOf({ query, body }: ApiRequest): Options {
  const given = decodeOptions(DELETE_OPTIONS, body ?? {}) as { readonly dryRun?: readonly string[] } & DeleteOptions;
  const seconds = query.get('gracePeriodSeconds');
  if (seconds !== null && !/^-?\d{1,12}$/.test(seconds))
    throw badRequest('Invalid value: gracePeriodSeconds must be a number');
  const dry = [...(given.dryRun ?? []), ...query.getAll('dryRun')];
  if (dry.some((value) => value !== 'All')) throw badRequest('Invalid value: dryRun must be All');
  return { ...given, ...(seconds !== null && { gracePeriodSeconds: Number(seconds) }), dryRun: dry.length > 0 };
}
