/** One source of a projected volume. Messages are those that the pod's event shows. */
import type { ResourceList } from '../../api/meta.ts';
import type { Parsed } from '../../api/parsed.ts';
import type { Pod } from '../../api/pod.ts';
import type { ConfigMap, Secret } from '../../api/referenced-objects.ts';
import type { VolumeProjection } from '../../api/volume.ts';
import type {
  BoundToken,
  CertificateOptions,
  PodCertificateAnswer,
  TokenOptions,
  TrustBundleRequest,
} from '../../objects/objects.ts';
import { invalid, waiting } from '../kind.ts';
import { downwardPayload, type FieldContents } from '../rules/downward-payload.ts';
import { credentialAccess } from '../rules/file-access.ts';
import type { Payload, ProjectedFile } from '../rules/payload.ts';
import type { ContentAnswer, ObjectContent } from './object-volume.ts';
import type { ObjectAnswer, Payloads } from './payloads.ts';

export interface ProjectedSourceDeps {
  readonly payloads: Payloads;
  readonly configMap: (namespace: string, name: string, signal: AbortSignal) => Promise<ObjectAnswer<ConfigMap>>;
  readonly secret: (namespace: string, name: string, signal: AbortSignal) => Promise<ObjectAnswer<Secret>>;
  readonly token: (request: TokenOptions, signal: AbortSignal) => Promise<BoundToken>;
  /** Not ok: there is none. */
  readonly clusterTrustBundles: (request: TrustBundleRequest, signal: AbortSignal) => Promise<Parsed<string>>;
  readonly podCertificate: (request: CertificateOptions, signal: AbortSignal) => Promise<PodCertificateAnswer>;
  readonly nodeAllocatable: () => ResourceList;
  /** The gate PodLevelResources. */
  readonly podLevel: boolean;
}

export interface ProjectedRequest {
  readonly pod: Pod;
  readonly volumeName: string;
  readonly source: VolumeProjection;
  /** The place of the source in the volume. */
  readonly index: number;
  readonly fsGroup: number | undefined;
  readonly defaultMode: number;
  /** Of the pod, shared by all sources. */
  readonly fields: FieldContents;
}

type Reader = (deps: ProjectedSourceDeps, request: ProjectedRequest, signal: AbortSignal) => Promise<ContentAnswer>;

export const readProjectedSource: Reader = async (deps, request, signal) => {
  const { source, pod, defaultMode } = request;
  const { namespace } = pod.metadata;
  if (source.secret !== undefined) {
    const { name = '', items, optional = false } = source.secret;
    const answer = await deps.secret(namespace, name, signal);
    return deps.payloads.secret(answer, { items, defaultMode, optional });
  }
  if (source.configMap !== undefined) {
    const { name = '', items, optional = false } = source.configMap;
    const answer = await deps.configMap(namespace, name, signal);
    return deps.payloads.configMap(answer, { items, defaultMode, optional });
  }
  if (source.downwardAPI !== undefined) return readDownward(deps, request);
  if (source.serviceAccountToken !== undefined) return await readToken(deps, request, signal);
  if (source.clusterTrustBundle !== undefined) return await readTrustBundles(deps, request, signal);
  if (source.podCertificate !== undefined) return await readCertificate(deps, request, signal);
  return content(new Map());
};

const content = (payload: Payload): ObjectContent => ({ kind: 'content', payload });

function readDownward(
  deps: ProjectedSourceDeps,
  { source, pod, defaultMode, fields }: ProjectedRequest,
): ContentAnswer {
  const { podLevel } = deps;
  const items = source.downwardAPI?.items;
  const made = downwardPayload({ pod, items, defaultMode, podLevel, nodeAllocatable: deps.nodeAllocatable(), fields });
  return made.ok ? content(made.value) : invalid(made.problem);
}

const HOUR = 3600;

export function tokenRequest(
  { metadata: { uid, name, namespace }, spec }: Pod,
  { audience = '', expirationSeconds = HOUR }: NonNullable<VolumeProjection['serviceAccountToken']>,
): TokenOptions {
  return {
    pod: { uid, name, namespace },
    serviceAccountName: spec.serviceAccountName ?? '',
    audiences: audience === '' ? [] : [audience],
    expirationSeconds,
  };
}

const readToken: Reader = async (deps, request, signal) => {
  const { serviceAccountToken: source = { path: '' } } = request.source;
  const { path } = source;
  const { token, refreshAt } = await deps.token(tokenRequest(request.pod, source), signal);
  return { ...content(new Map([[path, credential(request, token)]])), refreshAt };
};

const readTrustBundles: Reader = async (deps, request, signal) => {
  const { name, signerName, labelSelector, optional = false, path = '' } = request.source.clusterTrustBundle ?? {};
  if (name === undefined && signerName === undefined) {
    return invalid('ClusterTrustBundle projection requires either name or signerName to be set');
  }
  const chosen = name === undefined ? { signerName: signerName ?? '', labelSelector } : { name };
  const found = await deps.clusterTrustBundles(chosen, signal);
  if (!found.ok && !optional) return waiting(found.problem);
  return content(new Map([[path, credential(request, found.ok ? found.value : '')]]));
};

const readCertificate: Reader = async (deps, request, signal) => {
  const { pod, volumeName, index, source } = request;
  const answer = await deps.podCertificate({ pod, volumeName, sourceIndex: index }, signal);
  if (answer.kind === 'waiting') return waiting(answer.message);
  if (answer.kind === 'refused') return invalid(answer.message);
  const { privateKey, certificateChain } = answer;
  const { credentialBundlePath = '', keyPath = '', certificateChainPath = '' } = source.podCertificate ?? {};
  const files: readonly (readonly [string, string])[] = [
    [credentialBundlePath, privateKey + certificateChain],
    [keyPath, privateKey],
    [certificateChainPath, certificateChain],
  ];
  const named = files.filter(([path]) => path !== '');
  return content(new Map(named.map(([path, text]) => [path, credential(request, text)])));
};

const encoder = new TextEncoder();

function credential({ pod, fsGroup, defaultMode }: ProjectedRequest, text: string): ProjectedFile {
  return { data: encoder.encode(text), ...credentialAccess(pod, fsGroup, defaultMode) };
}
