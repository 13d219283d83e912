/**
 * The objects of the API server that pods here refer to: secrets, config maps, tokens, services, runtime classes, trust bundles and
 * certificates. The public entry point.
 */

import { apiPath } from '../api/api-path.ts';
import type { LabelSelector } from '../api/meta.ts';
import { type Parsed, parsed, unparsable } from '../api/parsed.ts';
import type { Pod } from '../api/pod.ts';
import type { ConfigMap, RuntimeClass, Secret, Service, ServiceAccount } from '../api/referenced-objects.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError, codeOf } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import { createListeners } from '../base/listeners.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Kube, KubeClient } from '../kube/kube.ts';
import type { ServiceView } from '../model/service.ts';
import { createFetchedObjects } from './fetched-objects.ts';
import { CONFIG_MAPS, type KeepableObject, type KeptObjects, type ObjectKind, SECRETS } from './kept-objects.ts';
import { createListed } from './listed.ts';
import { createPodCertificates, type PodCertificates, type PodCertificatesDeps } from './pod-certificates.ts';
import { createGatherer, isLiving } from './rules/gather.ts';
import { referencesOf } from './rules/references.ts';
import { createTokens } from './tokens.ts';
import { createTrustBundles, type TrustBundles } from './trust-bundles.ts';
import { createWatchedObjects } from './watched-objects.ts';
import { whileDenied } from './while-denied.ts';

/** Missing: the API server says that there is none; the message is the reference's (`secret "x" not found`). */
export type ObjectAnswer<T> =
  | { readonly kind: 'found'; readonly object: T }
  | { readonly kind: 'missing'; readonly message: string };

export interface TokenOptions {
  readonly pod: { readonly uid: string; readonly name: string; readonly namespace: string };
  readonly serviceAccountName: string;
  /** None: the API server's own. */
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  /** Refuses a token of another account with the same name. */
  readonly serviceAccountUid?: string;
}

/** Times are wall clock, milliseconds. */
export interface BoundToken {
  readonly token: string;
  readonly expiresAt: number;
  /** Request a new one then. */
  readonly refreshAt: number;
}

export type TrustBundleRequest =
  | { readonly name: string }
  /** Without a selector no bundle matches. An empty one matches all bundles of the signer. */
  | { readonly signerName: string; readonly labelSelector: LabelSelector | undefined };

/** One `podCertificate` source of a projected volume. */
export interface CertificateOptions {
  readonly pod: Pod;
  readonly volumeName: string;
  /** The place of the source in the volume. */
  readonly sourceIndex: number;
}

export type PodCertificateAnswer =
  | {
      readonly kind: 'issued';
      /** PEM, PKCS #8. */
      readonly privateKey: string;
      /** PEM, the leaf first. */
      readonly certificateChain: string;
      readonly expiresAt: number;
    }
  /** Listeners are notified (`podCertificate`) when it is issued. */
  | { readonly kind: 'waiting'; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string };

export interface ObjectChange {
  readonly kind: 'configMap' | 'secret' | 'clusterTrustBundle' | 'podCertificate';
  /** Empty for a trust bundle. */
  readonly namespace: string;
  /** Of a pod certificate: the pod's. */
  readonly name: string;
}

/** What the API server does not answer now throws a CodedError (`unavailable`, `denied`…). */
export interface Objects extends Part {
  /** All pods of this node: what they refer to is fetched at once and kept as long as they exist. */
  setPods(pods: readonly Pod[]): void;
  /** Waits for the first answer; later ones are answered from memory. */
  configMap(namespace: string, name: string, signal: AbortSignal): Promise<ObjectAnswer<ConfigMap>>;
  secret(namespace: string, name: string, signal: AbortSignal): Promise<ObjectAnswer<Secret>>;
  token(options: TokenOptions, signal: AbortSignal): Promise<BoundToken>;
  serviceAccount(namespace: string, name: string, signal: AbortSignal): Promise<ObjectAnswer<ServiceAccount>>;
  /** Undefined: not known yet. */
  services(): readonly ServiceView[] | undefined;
  /** Waits a short time for the first list. */
  awaitServices(signal: AbortSignal): Promise<readonly ServiceView[] | undefined>;
  /** Waits for the first list. */
  runtimeHandler(runtimeClass: string, signal: AbortSignal): Promise<Parsed<string>>;
  /** PEM, each certificate once. */
  clusterTrustBundles(request: TrustBundleRequest, signal: AbortSignal): Promise<Parsed<string>>;
  podCertificate(options: CertificateOptions, signal: AbortSignal): Promise<PodCertificateAnswer>;
  /** Calls the listener for each change of an object that a pod here refers to. Returns the function that ends this. */
  subscribe(name: string, listener: (change: ObjectChange) => void): () => void;
}

export interface ObjectsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly kube: Pick<Kube, 'watch' | 'general'>;
  readonly record: PodCertificatesDeps['record'];
  /** The node's annotation `node.alpha.kubernetes.io/ttl` in seconds, where it is known. */
  readonly nodeTtlSeconds: () => number | undefined;
  readonly nodeUid: (signal: AbortSignal) => Promise<string>;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly salt: string;
}

export interface ObjectsConfig {
  readonly nodeName: string;
  /** configMapAndSecretChangeDetectionStrategy. */
  readonly strategy: 'Watch' | 'Cache' | 'Get';
  /** syncFrequency. */
  readonly syncMs: number;
  readonly trustBundles: boolean;
  readonly podCertificates: boolean;
}

/** How long a container waits for the first list of services or runtime classes. */
const FIRST_LIST_MS = 1000;

export function createObjects(deps: ObjectsDeps, config: ObjectsConfig): Objects {
  const { clock, kube, supervisor } = deps;
  const log = deps.log.named('objects');
  const listeners = createListeners<ObjectChange>({ ...deps, keyOf: keyOfChange, about: (change) => ({ ...change }) });
  const { notify } = listeners;
  const keep = <T extends KeepableObject>(kind: ObjectKind) => createKept<T>({ ...deps, log }, config, kind, notify);
  const configMaps = keep<ConfigMap>(CONFIG_MAPS);
  const secrets = keep<Secret>(SECRETS);
  const tokens = createTokens({ clock, log, client: kube.general, random: deps.random });
  const services = createListed<Service, ServiceView>(
    { clock, kube, supervisor },
    { path: apiPath`/api/v1/services`, reduce: viewOf },
  );
  const classes = createListed<RuntimeClass, string>(
    { clock, kube, supervisor },
    { path: apiPath`/apis/node.k8s.io/v1/runtimeclasses`, reduce: ({ handler }) => handler },
  );
  const serviceAccount: Objects['serviceAccount'] = (namespace, name, signal) =>
    readServiceAccount({ clock, client: kube.general }, { namespace, name }, signal);
  const tools: Tools = { ...deps, log, notify, serviceAccount };
  const bundles = config.trustBundles ? createBundles(tools) : undefined;
  const certificates = config.podCertificates ? createCertificates(tools, config) : undefined;
  const parts: readonly Part[] = [services, classes, configMaps, secrets, ...(certificates ? [certificates] : [])];
  // A pod whose references can't be read must not affect the others.
  const gather = createGatherer(
    (pod) => supervisor.value('objects', { podUID: pod.metadata.uid }, () => referencesOf(pod)) ?? [],
  );

  return {
    name: 'objects',
    setPods: (pods) => {
      const living = pods.filter(isLiving);
      const referred = gather(living);
      configMaps.refer(referred.configMap);
      secrets.refer(referred.secret);
      tokens.keepOnly(new Set(pods.map(({ metadata }) => metadata.uid)));
      certificates?.setPods(living);
    },
    configMap: configMaps.get,
    secret: secrets.get,
    token: tokens.get,
    serviceAccount,
    services: () => listOf(services.all()),
    awaitServices: async (signal) => listOf(await services.first(FIRST_LIST_MS, signal)),
    runtimeHandler: async (name, signal) => handlerIn(await classes.first(FIRST_LIST_MS, signal), name),
    clusterTrustBundles: (request, signal) =>
      bundles?.get(request, signal) ??
      Promise.reject(new CodedError('unsupported', 'the feature gate ClusterTrustBundleProjection is off')),
    podCertificate: (options) =>
      Promise.resolve(
        certificates?.get(options) ?? { kind: 'refused', message: 'the feature gate PodCertificateRequest is off' },
      ),
    subscribe: listeners.add,
    start: async (signal) => {
      bundles?.start(signal);
      for (const part of parts) await part.start(signal);
    },
    stop: async () => {
      listeners.stop();
      await Promise.all([...parts.map((part) => part.stop?.()), bundles?.stop()]);
    },
  };
}

const keyOfChange = ({ kind, namespace, name }: ObjectChange) => `${kind} ${namespace}/${name}`;

interface Tools extends ObjectsDeps {
  readonly notify: (change: ObjectChange) => void;
  readonly serviceAccount: Objects['serviceAccount'];
}

function createBundles({ notify, ...deps }: Tools): TrustBundles {
  return createTrustBundles({ ...deps, notify: (name) => notify({ kind: 'clusterTrustBundle', namespace: '', name }) });
}

function createCertificates({ notify, serviceAccount, ...deps }: Tools, config: ObjectsConfig): PodCertificates {
  return createPodCertificates(
    {
      ...deps,
      serviceAccountUid: async (namespace, name, signal) => {
        const account = await serviceAccount(namespace, name, signal);
        if (account.kind === 'found') return account.object.metadata.uid;
        throw new CodedError('notFound', `while fetching service account: ${account.message}`);
      },
      notify: ({ namespace, name }) => notify({ kind: 'podCertificate', namespace, name }),
    },
    config,
  );
}

function handlerIn(handlers: ReadonlyMap<string, string> | undefined, name: string): Parsed<string> {
  if (handlers === undefined) return unparsable(`failed to lookup RuntimeClass ${name}: not listed yet`);
  const handler = handlers.get(name);
  if (handler !== undefined) return parsed(handler);
  return unparsable(`runtimeclass.node.k8s.io ${JSON.stringify(name)} not found`);
}

const CACHE_MS = 60_000;
const SHORTEST_IDLE_MS = 60_000;

function createKept<T extends KeepableObject>(
  { clock, log, kube, supervisor, nodeTtlSeconds }: ObjectsDeps,
  { strategy, syncMs }: ObjectsConfig,
  kind: ObjectKind,
  notifyAll: (change: ObjectChange) => void,
): KeptObjects<T> {
  const notify = ({ namespace, name }: { readonly namespace: string; readonly name: string }) =>
    notifyAll({ kind: kind.kind, namespace, name });
  if (strategy === 'Watch') {
    const idleMs = Math.max(5 * syncMs, SHORTEST_IDLE_MS);
    return createWatchedObjects<T>({ clock, log, kube, supervisor, notify }, { kind, idleMs });
  }
  const caches = strategy === 'Cache';
  const nodeTtl = () => (nodeTtlSeconds() ?? CACHE_MS / 1000) * 1000;
  const ttlMs = caches ? nodeTtl : () => 0;
  const client = kube.general;
  const fetching = { clock, log, client, supervisor, notify, ttlMs };
  return createFetchedObjects<T>(fetching, { kind, lookAgainMs: syncMs, ahead: caches });
}

const listOf = (services: ReadonlyMap<string, ServiceView> | undefined): readonly ServiceView[] | undefined =>
  services === undefined ? undefined : [...services.values()];

function viewOf({ metadata: { name, namespace = '' }, spec }: Service): ServiceView {
  const ports = (spec?.ports ?? []).map(({ name: portName, port, protocol }) => ({
    port,
    ...(portName === undefined ? {} : { name: portName }),
    ...(protocol === undefined ? {} : { protocol }),
  }));
  return { name, namespace, clusterIp: spec?.clusterIP ?? '', ports };
}

async function readServiceAccount(
  { clock, client }: { readonly clock: Clock; readonly client: KubeClient },
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<ObjectAnswer<ServiceAccount>> {
  const path = apiPath`/api/v1/namespaces/${namespace}/serviceaccounts/${name}`;
  try {
    const object = await whileDenied(clock, signal, () =>
      client.request<ServiceAccount>({ method: 'GET', path }, signal),
    );
    return { kind: 'found', object };
  } catch (error) {
    if (codeOf(error) !== 'notFound') throw error;
    return { kind: 'missing', message: `serviceaccount ${JSON.stringify(name)} not found` };
  }
}
