/**
 * Certificates of pods: for each `podCertificate` source of a volume its own key, a PodCertificateRequest and the answer of
 * its signer, and the same again before the certificate expires. All of it is in memory only: a restarted kubelet makes new requests.
 */

import { apiPath, fieldEquals } from '../api/api-path.ts';
import type { Pod } from '../api/pod.ts';
import { isStaticPod } from '../api/pod-traits.ts';
import type { StoredMeta } from '../api/referenced-objects.ts';
import { parseTimestamp } from '../api/timestamp.ts';
import type { PodCertificateProjection } from '../api/volume.ts';
import { type Alarm, createAlarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError, describeError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Kube } from '../kube/kube.ts';
import type { RecordPodEvent } from '../model/event.ts';
import { makeKeyAndProof } from './key-and-proof.ts';
import { createListed, type Listed } from './listed.ts';
import type { CertificateOptions, PodCertificateAnswer } from './objects.ts';
import {
  type CertificateRequest,
  type CertificateState,
  needsRequest,
  nextCertificateState,
  nextCheckAt,
  type PendingRequest,
  withRequest,
} from './rules/certificate-state.ts';
import { whileDenied } from './while-denied.ts';

export interface PodCertificatesDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly kube: Pick<Kube, 'watch' | 'general'>;
  readonly record: RecordPodEvent;
  readonly serviceAccountUid: (namespace: string, name: string, signal: AbortSignal) => Promise<string>;
  readonly nodeUid: (signal: AbortSignal) => Promise<string>;
  /** The certificate of this pod was issued, renewed or refused. */
  readonly notify: (pod: { readonly namespace: string; readonly name: string }) => void;
  /** From 0 to below 1. */
  readonly random: () => number;
}

export interface PodCertificates extends Part {
  setPods(pods: readonly Pod[]): void;
  get(options: CertificateOptions): PodCertificateAnswer;
}

const ABANDON_MS = 10 * 60_000;
const MOST_JITTER_MS = 5 * 60_000;
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 60_000;

interface StoredRequest {
  readonly metadata: StoredMeta & { readonly creationTimestamp?: string };
  readonly spec?: { readonly podUID?: string };
  readonly status?: Partial<Omit<CertificateRequest, 'name'>>;
}

interface ListedRequest extends CertificateRequest {
  readonly podUid: string;
}

export function createPodCertificates(
  deps: PodCertificatesDeps,
  config: { readonly nodeName: string },
): PodCertificates {
  const sources = new Map<string, Source>();
  let running: AbortSignal | undefined;

  const requests = createListed<StoredRequest, ListedRequest>(deps, {
    path: apiPath`/apis/certificates.k8s.io/v1beta1/podcertificaterequests`,
    fieldSelector: fieldEquals('spec.nodeName', config.nodeName),
    reduce: readRequest,
    onChange: ({ podUid }) => {
      for (const source of sources.values()) if (source.pod.metadata.uid === podUid) source.look();
    },
  });

  return {
    name: 'pod certificates',
    setPods: (pods) => {
      const desired = new Map(pods.flatMap(sourcesOf));
      for (const [key, source] of sources) {
        if (desired.has(key)) continue;
        sources.delete(key);
        source.end();
      }
      for (const [key, { pod, projection }] of desired) {
        if (sources.has(key)) continue;
        const source = new Source({ deps, config, requests }, pod, projection);
        sources.set(key, source);
        if (running !== undefined) source.begin(running);
      }
    },
    get: ({ pod, volumeName, sourceIndex }) => {
      const source = sources.get(keyOf(pod, volumeName, sourceIndex));
      return source?.answer() ?? { kind: 'waiting', message: 'credential bundle is not issued yet' };
    },
    start: async (signal) => {
      running = signal;
      await requests.start(signal);
      for (const source of sources.values()) source.begin(signal);
    },
    stop: async () => {
      running = undefined;
      for (const source of sources.values()) source.end();
      await requests.stop?.();
    },
  };
}

const keyOf = (pod: Pod, volumeName: string, index: number) => `${pod.metadata.uid}/${volumeName}/${index}`;

type WantedSource = readonly [string, { readonly pod: Pod; readonly projection: PodCertificateProjection }];

function sourcesOf(pod: Pod): readonly WantedSource[] {
  if (isStaticPod(pod)) return [];
  return (pod.spec.volumes ?? []).flatMap(({ name, projected }) =>
    (projected?.sources ?? []).flatMap(({ podCertificate: projection }, index): readonly WantedSource[] =>
      projection === undefined ? [] : [[keyOf(pod, name, index), { pod, projection }]],
    ),
  );
}

function readRequest({ metadata, spec, status = {} }: StoredRequest): ListedRequest {
  const { conditions = [], certificateChain = '', beginRefreshAt = '', notAfter = '' } = status;
  const podUid = spec?.podUID ?? '';
  return { name: metadata.name, podUid, conditions, certificateChain, beginRefreshAt, notAfter };
}

interface SourceTools {
  readonly deps: PodCertificatesDeps;
  readonly config: { readonly nodeName: string };
  readonly requests: Listed<ListedRequest>;
}

/** One source of one volume. */
class Source {
  readonly pod: Pod;
  readonly #tools: SourceTools;
  readonly #projection: PodCertificateProjection;
  readonly #alarm: Alarm;
  #state: CertificateState = { kind: 'none' };
  #signal: AbortSignal | undefined;
  #asking = false;
  #seen: string | undefined;
  #retryMs = FIRST_RETRY_MS;
  #problem = '';

  constructor(tools: SourceTools, pod: Pod, projection: PodCertificateProjection) {
    this.#tools = tools;
    this.pod = pod;
    this.#projection = projection;
    const { clock, supervisor } = tools.deps;
    const about = { podUID: pod.metadata.uid };
    this.#alarm = createAlarm(clock, () => supervisor.guard('pod certificates', about, () => this.look()));
  }

  begin(signal: AbortSignal): void {
    this.#signal = signal;
    this.look();
  }

  end(): void {
    this.#signal = undefined;
    this.#alarm.clear();
  }

  answer(): PodCertificateAnswer {
    const state = this.#state;
    if (state.kind === 'refused') return { kind: 'refused', message: state.message };
    if (state.kind === 'held' || state.kind === 'renewing') {
      const { privateKey, chain: certificateChain, expiresAt } = state.held;
      return { kind: 'issued', privateKey, certificateChain, expiresAt };
    }
    const why = this.#problem === '' ? '' : `: ${this.#problem}`;
    return { kind: 'waiting', message: `credential bundle is not issued yet${why}` };
  }

  look(): void {
    if (this.#signal === undefined) return;
    const { clock } = this.#tools.deps;
    this.#advance();
    if (needsRequest(this.#state, clock.now())) void this.#ask(this.#signal);
    const at = nextCheckAt(this.#state, clock.now());
    if (at !== undefined && !this.#asking) this.#alarm.ringAt(at);
  }

  #advance(): void {
    const { deps } = this.#tools;
    const before = this.#state;
    const { state, events } = nextCertificateState(before, {
      now: deps.clock.now(),
      request: this.#request(),
      requestName: `${this.pod.metadata.namespace}/${this.#requestName() ?? ''}`,
      jitterMs: deps.random() * MOST_JITTER_MS,
    });
    this.#state = state;
    for (const event of events) deps.record({ ...event, pod: this.pod.metadata, type: 'Warning' });
    if (before.kind !== state.kind && (state.kind === 'held' || state.kind === 'refused'))
      deps.notify(this.pod.metadata);
  }

  #requestName(): string | undefined {
    return 'pending' in this.#state ? this.#state.pending.requestName : undefined;
  }

  #request(): CertificateRequest | 'unseen' | 'gone' {
    const name = this.#requestName();
    const found = this.#tools.requests.all()?.get(`${this.pod.metadata.namespace}/${name ?? ''}`);
    if (found !== undefined) this.#seen = name;
    else if (name !== undefined && this.#seen === name && this.#tools.requests.all() !== undefined) return 'gone';
    return found ?? 'unseen';
  }

  async #ask(signal: AbortSignal): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    const { clock, log } = this.#tools.deps;
    try {
      this.#state = withRequest(this.#state, await this.#create(signal));
      this.#retryMs = FIRST_RETRY_MS;
      this.#problem = '';
      this.#asking = false;
      // The signer may have answered before the API server confirmed the request.
      this.look();
    } catch (error) {
      this.#asking = false;
      if (signal.aborted || this.#signal === undefined) return;
      this.#problem = describeError(error);
      const { namespace, name } = this.pod.metadata;
      log.warn('Failed to create PodCertificateRequest', { pod: `${namespace}/${name}`, err: this.#problem });
      this.#alarm.ringAt(clock.now() + this.#retryMs);
      this.#retryMs = Math.min(2 * this.#retryMs, LAST_RETRY_MS);
    }
  }

  async #create(signal: AbortSignal): Promise<PendingRequest> {
    const { deps, config } = this.#tools;
    const { namespace, name, uid } = this.pod.metadata;
    const { signerName, keyType, maxExpirationSeconds, userAnnotations } = this.#projection;
    const serviceAccountName = this.pod.spec.serviceAccountName ?? '';
    const [serviceAccountUID, nodeUID, pair] = await Promise.all([
      deps.serviceAccountUid(namespace, serviceAccountName, signal),
      deps.nodeUid(signal),
      makeKeyAndProof(keyType),
    ]);
    const body = {
      apiVersion: 'certificates.k8s.io/v1beta1',
      kind: 'PodCertificateRequest',
      metadata: { namespace, generateName: 'req-', ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid }] },
      spec: {
        signerName,
        podName: name,
        podUID: uid,
        serviceAccountName,
        serviceAccountUID,
        nodeName: config.nodeName,
        nodeUID,
        maxExpirationSeconds,
        stubPKCS10Request: pair.request,
        unverifiedUserAnnotations: userAnnotations,
      },
    };
    const path = apiPath`/apis/certificates.k8s.io/v1beta1/namespaces/${namespace}/podcertificaterequests`;
    const made = await whileDenied(deps.clock, signal, () =>
      deps.kube.general.request<StoredRequest>({ method: 'POST', path, body }, signal),
    );
    const createdAt = parseTimestamp(made.metadata.creationTimestamp ?? '') ?? deps.clock.now();
    if (made.metadata.name === '') throw new CodedError('internal', 'a PodCertificateRequest was made without a name');
    return {
      requestName: made.metadata.name,
      privateKey: pair.privateKey,
      abandonAt: createdAt + ABANDON_MS + deps.random() * MOST_JITTER_MS,
    };
  }
}
