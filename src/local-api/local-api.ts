/**
 * The Kubernetes API of a standalone node: a part of the REST API on an address of its own, which people use with kubectl, and which
 * the kubelet itself uses in place of an API server.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { PodGates } from '../api/pod-gates.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Kube } from '../kube/kube.ts';
import { makeNamespace } from './actions.ts';
import { type Api, type ApiRequest, createApi } from './api.ts';
import { type CredentialsDeps, createCredentials } from './credentials.ts';
import { createEventExpiry } from './event-expiry.ts';
import { createJournal } from './journal.ts';
import { createLocalKube } from './local-kube.ts';
import { createOpening } from './opening.ts';
import type { Caller } from './rules/access.ts';
import { NAMESPACES } from './rules/resources.ts';
import { callerOf, FULL_USER } from './rules/roles.ts';
import { createSigningKey } from './signing-key.ts';
import { createStore, type Store } from './store.ts';

export interface LocalApiConfig {
  /** For root only. */
  readonly directory: string;
  readonly address: string;
  readonly port: number;
  readonly nodeName: string;
  readonly gates: PodGates;
  readonly version: string;
  readonly platform: string;
  readonly runtime: string;
}

export interface LocalApiDeps extends CredentialsDeps {
  readonly supervisor: Supervisor;
}

export interface LocalApi {
  /** To be started before everything that asks the kubelet's own access. */
  readonly part: Part;
  readonly kube: Kube;
  readonly api: Api;
  readonly store: Store;
  /** As an administrator would. Answers the status of the request. */
  readonly removePod: (namespace: string, name: string) => Promise<{ readonly status: number; readonly body: string }>;
  /** A part that starts as soon as the store is open and people can get in: as a rule at once. */
  readonly whenOpen: (name: string, part: Part) => Part;
  /** The user of a bearer token; undefined for any other text, and before `part` has started. */
  readonly reviewToken: (
    token: string,
  ) => Promise<{ readonly name: string; readonly groups: readonly string[] } | undefined>;
}

/** Without vowels and what looks like them: no words come about by chance. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const FIRST_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

export function createLocalApi(deps: LocalApiDeps, config: LocalApiConfig): LocalApi {
  const { clock, log } = deps;
  const journal = createJournal({ log }, { file: join(config.directory, 'objects.journal') });
  const store = createStore({ log, journal });
  const newUid = () => randomUUID();
  const newSuffix = () => Array.from({ length: SUFFIX_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  const address = `${config.address.includes(':') ? `[${config.address}]` : config.address}:${config.port}`;
  const signingKey = createSigningKey({ file: join(config.directory, 'service-account.key') });
  const api = createApi({ clock, log, store, newUid, newSuffix, signingKey }, { ...config, address });
  const expiry = createEventExpiry({ clock, log, store });
  const opened = Promise.withResolvers<void>();
  const kube = createLocalKube({ log, api, store, opened: opened.promise }, config);
  const fill = async (): Promise<void> => {
    for (const name of FIRST_NAMESPACES) await makeNamespace({ store, clock, newUid }, name);
    // What was under way before a restart goes on.
    const ending = store.list(NAMESPACES.plural, '').filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    for (const { metadata } of ending) await deleteAgain(api, metadata.name);
  };
  const credentials = createCredentials(deps, { ...config, server: `https://${address}` });
  const opening = createOpening(deps, async (signal) => {
    if (!store.isOpen()) await store.start(signal);
    // The pods of an earlier life are known from here on, whatever else fails.
    opened.resolve();
    await fill();
    const files = await credentials.open();
    log.info('The local API of this node', { address, kubeconfig: files.full, readOnly: files.readOnly });
    await expiry.start(signal);
  });
  return {
    kube,
    api,
    store,
    removePod: async (namespace, name) => {
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
      const answer = await api.handle(deletion(path, callerOf(FULL_USER)));
      const status = answer.kind === 'answer' ? answer.status : 500;
      return { status, body: answer.kind === 'answer' ? JSON.stringify(answer.body) : '' };
    },
    whenOpen: opening.after,
    reviewToken: (token) => Promise.resolve(credentials.review(token)),
    part: {
      name: 'local API',
      start: opening.start,
      stop: async () => {
        await opening.stop();
        credentials.close();
        await expiry.stop?.();
        await store.stop?.();
      },
    },
  };
}

async function deleteAgain(api: Api, name: string): Promise<void> {
  await api.handle(deletion(`/api/v1/namespaces/${name}`, { name: 'system:node', groups: [], role: 'node' }));
}

const deletion = (path: string, caller: Caller): ApiRequest => ({
  ...{ method: 'DELETE', path, caller },
  query: new URLSearchParams(),
  body: undefined,
  type: 'application/json',
  accept: 'application/json',
});
