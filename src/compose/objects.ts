/** The objects of the API server that pods refer to, in the forms in which requests, images and volumes ask for them. */

import { randomBytes } from 'node:crypto';
import { apiPath } from '../api/api-path.ts';
import type { Pod } from '../api/pod.ts';
import type { ConfigMap, Secret, StoredMeta } from '../api/referenced-objects.ts';
import { CodedError, describeError } from '../base/errors.ts';
import type { Config } from '../config/config.ts';
import { createApiSink } from '../events/api-sink.ts';
import type { EventsDeps } from '../events/events.ts';
import type { CredentialObjects } from '../images/ports.ts';
import type { Kube } from '../kube/kube.ts';
import type { RecordEvent } from '../model/event.ts';
import { createObjects, type ObjectAnswer, type Objects } from '../objects/objects.ts';
import type { Pods } from '../pods/pods.ts';
import type { ObjectsPort } from '../runtime/requests.ts';
import type { EnvValue, ObjectData } from '../runtime/spec/environment.ts';
import type { PartDeps } from './compose.ts';

export interface ObjectTools {
  readonly kube: Kube;
  readonly nodeName: string;
  readonly record: RecordEvent;
  /** This node's object, where it is known. */
  readonly node?: () => { readonly metadata: Pick<StoredMeta, 'uid' | 'annotations'> } | undefined;
}

export interface ObjectParts {
  /** Undefined for a kubelet without an API server. */
  readonly objects: Objects | undefined;
  readonly requests: ObjectsPort;
  readonly credentials: CredentialObjects | undefined;
  readonly setPods: (pods: readonly Pod[]) => void;
}

const TTL_ANNOTATION = 'node.alpha.kubernetes.io/ttl';
const STRATEGIES = ['Watch', 'Cache', 'Get'] as const;

export function composeObjects(config: Config, deps: PartDeps, tools: ObjectTools | undefined): ObjectParts {
  if (tools === undefined) {
    return { objects: undefined, requests: NO_OBJECTS, credentials: undefined, setPods: () => undefined };
  }
  const { kubelet, features } = config;
  const { kube, nodeName, record } = tools;
  const objects = createObjects(
    {
      clock: deps.clock,
      log: deps.log,
      supervisor: deps.supervisor,
      kube,
      record,
      nodeTtlSeconds: () => ttlOf(tools.node?.()?.metadata.annotations?.[TTL_ANNOTATION]),
      nodeUid: async (signal) => tools.node?.()?.metadata.uid ?? (await readNodeUid(kube, nodeName, signal)),
      chance: Math.random,
      salt: randomBytes(16).toString('hex'),
    },
    {
      nodeName,
      strategy: strategyOf(kubelet.configMapAndSecretChangeDetectionStrategy),
      syncMs: kubelet.syncFrequency,
      trustBundles: features.enabled('ClusterTrustBundleProjection'),
      podCertificates: features.enabled('PodCertificateRequest'),
    },
  );
  const credentials = credentialObjects(objects, deps);
  return { objects, requests: requestObjects(objects), credentials, setPods: objects.setPods };
}

function strategyOf(text: string): (typeof STRATEGIES)[number] {
  const strategy = STRATEGIES.find((one) => one === text);
  if (strategy !== undefined) return strategy;
  throw new CodedError(
    'invalid',
    `unknown configmap and secret manager mode: ${JSON.stringify(text)}: must be one of ${STRATEGIES.join(', ')}`,
  );
}

function ttlOf(text: string | undefined): number | undefined {
  return text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
}

async function readNodeUid(kube: Kube, name: string, signal: AbortSignal): Promise<string> {
  const path = apiPath`/api/v1/nodes/${name}`;
  return (await kube.general.request<{ metadata: StoredMeta }>({ method: 'GET', path }, signal)).metadata.uid;
}

function requestObjects(objects: Objects): ObjectsPort {
  return {
    services: (wait, signal) => (wait ? objects.awaitServices(signal) : Promise.resolve(objects.services())),
    configMap: (namespace, name, signal) => dataOf(objects.configMap(namespace, name, signal), textData, signal),
    secret: (namespace, name, signal) => dataOf(objects.secret(namespace, name, signal), secretData, signal),
    runtimeHandler: objects.runtimeHandler,
  };
}

async function dataOf<T>(
  answer: Promise<ObjectAnswer<T>>,
  read: (object: T) => ReadonlyMap<string, EnvValue>,
  signal: AbortSignal,
): Promise<ObjectData> {
  try {
    const found = await answer;
    return found.kind === 'found' ? { kind: 'found', data: read(found.object) } : found;
  } catch (error) {
    signal.throwIfAborted();
    return { kind: 'failed', message: describeError(error) };
  }
}

/** Variables come from the text of a config map only. */
const textData = ({ data = {} }: ConfigMap): ReadonlyMap<string, string> => new Map(Object.entries(data));

const secretData = ({ data = {} }: Secret): ReadonlyMap<string, Uint8Array> =>
  new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64')]));

/** What the API server gives who asks for no particular time, as the reference does here. */
const PROVIDER_TOKEN_SECONDS = 3600;

function credentialObjects(objects: Objects, { log }: PartDeps): CredentialObjects {
  return {
    secret: async (namespace, name, signal) => {
      try {
        const found = await objects.secret(namespace, name, signal);
        if (found.kind === 'missing') return undefined;
        const { metadata, type = '' } = found.object;
        return { uid: metadata.uid, namespace, name, type, data: secretData(found.object) };
      } catch (error) {
        signal.throwIfAborted();
        const secret = `${namespace}/${name}`;
        log.info('Unable to retrieve pull secret, the image pull may not succeed.', {
          secret,
          err: describeError(error),
        });
        return undefined;
      }
    },
    serviceAccount: async (namespace, name, signal) => {
      const found = await objects.serviceAccount(namespace, name, signal);
      if (found.kind === 'missing') throw new CodedError('notFound', found.message);
      const { uid, annotations = {} } = found.object.metadata;
      return { uid, annotations };
    },
    token: async ({ pod, serviceAccount, audience }, signal) => {
      const { token } = await objects.token(
        {
          pod,
          serviceAccountName: serviceAccount.name,
          serviceAccountUid: serviceAccount.uid,
          audiences: [audience],
          expirationSeconds: PROVIDER_TOKEN_SECONDS,
        },
        signal,
      );
      return token;
    },
  };
}

/** A kubelet without an API server: nothing of it is there, and each thing says so by its name. */
const NO_OBJECTS: ObjectsPort = {
  services: () => Promise.resolve([]),
  configMap: (_, name) => Promise.resolve({ kind: 'missing', message: `configmap "${name}" not found` }),
  secret: (_, name) => Promise.resolve({ kind: 'missing', message: `secret "${name}" not found` }),
  runtimeHandler: (name) => Promise.resolve({ ok: false, problem: `RuntimeClass "${name}" not found` }),
};

const CONFIG_ERROR = 'CreateContainerConfigError';

/** A container that waits for an object is tried at once when the object is there. */
export function retryOnChange(objects: Objects | undefined, pods: () => Pick<Pods, 'views' | 'tryAgain'>): void {
  objects?.subscribe('pods', ({ kind, namespace }) => {
    if (kind !== 'configMap' && kind !== 'secret') return;
    for (const { uid, pod, memory } of pods().views()) {
      if (pod.metadata.namespace !== namespace) continue;
      if ([...memory.values()].some(({ waiting }) => waiting?.reason === CONFIG_ERROR))
        pods().tryAgain(uid, CONFIG_ERROR);
    }
  });
}

/** Where events go beyond this process. */
export function eventSink(
  { clock, log }: PartDeps,
  kube: Kube | undefined,
  nodeName: string,
): Pick<EventsDeps, 'send'> {
  if (kube === undefined) return {};
  const { events: client, onBack } = kube;
  return { send: createApiSink({ clock, log, client, onBack, chance: Math.random }, { nodeName }) };
}
