/**
 * The Kubernetes API of a standalone node: a part of the REST API on an address of its own, which people use with kubectl, and which
 * the kubelet itself uses in place of an API server.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { PodGates } from '../api/pod-gates.ts';
import { formatTimestamp } from '../api/timestamp.ts';
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Kube } from '../kube/kube.ts';
import { makeNamespace } from './actions.ts';
import { type Api, type ApiRequest, createApi } from './api.ts';
import { createEventExpiry } from './event-expiry.ts';
import { createJournal } from './journal.ts';
import { writeKubeconfigs } from './kubeconfig.ts';
import { createLocalKube } from './local-kube.ts';
import type { Caller } from './rules/access.ts';
import { NAMESPACES } from './rules/resources.ts';
import { callerOf, FULL_USER } from './rules/roles.ts';
import { createStore, type Store } from './store.ts';
import { createUsers, type ReviewToken } from './users.ts';

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

export interface LocalApiDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** The certificate of the server for this address, PEM, with its authority at the end. */
  readonly certificate: (host: string) => Promise<string>;
  readonly ensureToken: (file: string) => Promise<string>;
}

export interface LocalApi {
  /** To be started before everything that asks the kubelet's own access. */
  readonly part: Part;
  readonly kube: Kube;
  readonly api: Api;
  readonly store: Store;
  /** As an administrator would. Answers the status of the request. */
  readonly removePod: (namespace: string, name: string) => Promise<{ readonly status: number; readonly body: string }>;
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
  const api = createApi({ clock, log, store, newUid, newSuffix }, { ...config, address });
  const expiry = createEventExpiry({ clock, log, store });
  const kube = createLocalKube({ log, api, store }, config);
  let users: ReviewToken = () => undefined;
  const fill = async (): Promise<void> => {
    for (const name of FIRST_NAMESPACES) await makeNamespace({ store, clock, newUid }, name);
    await makeServiceAccount({ store, clock, newUid });
    // What was under way before a restart goes on.
    const ending = store.list(NAMESPACES.plural, '').filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    for (const { metadata } of ending) await deleteAgain(api, metadata.name);
  };
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
    reviewToken: (token) => Promise.resolve(users(token)),
    part: {
      name: 'local API',
      start: async (signal) => {
        await store.start(signal);
        await fill();
        await expiry.start(signal);
        const [full, readOnly] = await Promise.all(
          ['administrator.token', 'reader.token'].map((name) => deps.ensureToken(join(config.directory, name))),
        );
        const tokens = { full: full ?? '', readOnly: readOnly ?? '' };
        users = createUsers(tokens);
        const authority = lastCertificate(await deps.certificate(config.address));
        const { directory, nodeName } = config;
        const files = await writeKubeconfigs({ directory, nodeName, tokens, authority, server: `https://${address}` });
        log.info('The local API of this node', { address, kubeconfig: files.full, readOnly: files.readOnly });
      },
      stop: async () => {
        await expiry.stop?.();
        await store.stop?.();
      },
    },
  };
}

const lastCertificate = (pem: string): string => pem.slice(pem.lastIndexOf('-----BEGIN CERTIFICATE-----'));

async function makeServiceAccount({
  store,
  clock,
  newUid,
}: {
  store: Store;
  clock: Clock;
  newUid: () => string;
}): Promise<void> {
  const key = { resource: 'serviceaccounts', namespace: 'default', name: 'default' };
  const { name, namespace } = key;
  const metadata = {
    name,
    namespace,
    uid: newUid(),
    resourceVersion: '',
    creationTimestamp: formatTimestamp(clock.now()),
  };
  await store.change(key, (current) =>
    current === undefined
      ? { kind: 'put', object: { apiVersion: 'v1', kind: 'ServiceAccount', metadata }, keeping: 'safe' }
      : { kind: 'none' },
  );
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
