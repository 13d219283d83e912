/** Makes sure that the image of a container is on the machine and that its pod may use it. */

import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { EventText, RecordEvent } from '../model/event.ts';
import type { ImageAnswer, PullPolicy } from '../model/image.ts';
import { isInterruption } from '../model/runtime-failure.ts';
import type { Image, PodSandboxConfig } from '../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../wire/message.ts';
import type { Credentials } from './credentials.ts';
import { runtimeText } from './failures.ts';
import type { ImageRuntime } from './ports.ts';
import type { PullProgress } from './progress.ts';
import type { PullRecords } from './pull-records.ts';
import type { PullOutcome, Pulls } from './pulls.ts';
import { parseImageName, withDefaultTag } from './rules/image-name.ts';
import { backOffUntil, isForgotten, nextFailure, type PullFailure } from './rules/pull-back-off.ts';
import type { PulledRecord } from './rules/pull-record.ts';
import * as texts from './rules/texts.ts';
import {
  credentialsUsed,
  type HashedCredential,
  judgeCredentials,
  judgeRecord,
  needsVerification,
  type Verification,
} from './rules/verification.ts';

export interface EnsureDeps {
  readonly clock: Clock;
  readonly runtime: Pick<ImageRuntime, 'status'>;
  readonly pulls: Pulls;
  readonly credentials: Credentials;
  readonly record: RecordEvent;
  readonly progress: PullProgress;
  /** Called with each image that a container is about to use, so that it is not removed before. */
  readonly onUse: (imageId: string) => void;
  /** A pull ended because there was no space for it. */
  readonly onDiskFull: () => void;
  readonly sandboxConfigOf: (pod: Pod, signal: AbortSignal) => Promise<Init<PodSandboxConfig> | undefined>;
  /** Called for each request when it is answered: for metrics. */
  readonly onEnsured?: ((report: EnsureReport) => void) | undefined;
  /** Undefined where every pod may use every image of the machine. */
  readonly access: { readonly records: PullRecords; readonly verification: Verification } | undefined;
}

export interface EnsureReport {
  readonly podUid: string;
  readonly policy: PullPolicy;
  /** Undefined where it ended before that was known. */
  readonly present: boolean | undefined;
  readonly pullRequired: boolean | undefined;
  /** Wall clock, ms, where the image was pulled. */
  readonly pulled: { readonly from: number; readonly to: number } | undefined;
  /** What allowed the pod to use an image of the machine, or that nothing did; undefined where that was not checked. */
  readonly check: 'credentialPolicyAllowed' | 'credentialRecordFound' | 'mustAuthenticate' | undefined;
}

export interface Request {
  readonly pod: Pod;
  /** As the pod names it. */
  readonly image: string;
  readonly policy: PullPolicy;
  /** The part of the pod that events are about; undefined for the whole pod. */
  readonly fieldPath: string | undefined;
}

/** After a failure that only another component can correct. */
const RETRY_MS = 10_000;
/** How long the failure itself is shown before the back-off is. */
const SHOW_FAILURE_MS = 1_000;

export type EnsureImage = (request: Request, signal: AbortSignal) => Promise<ImageAnswer>;

export function createEnsure(deps: EnsureDeps): EnsureImage {
  const failures = new Map<string, PullFailure>();
  return async (request, signal) => {
    const attempt = new Attempt(deps, failures, request, signal);
    try {
      const answer = await attempt.run();
      if (answer.kind === 'ready') deps.onUse(answer.imageRef);
      return answer;
    } finally {
      deps.onEnsured?.({ podUid: request.pod.metadata.uid, policy: request.policy, ...attempt.facts() });
    }
  };
}

/** One attempt for one container. */
class Attempt {
  readonly #deps: EnsureDeps;
  readonly #failures: Map<string, PullFailure>;
  readonly #request: Request;
  readonly #signal: AbortSignal;
  #found: Promise<readonly HashedCredential[]> | undefined;
  #present: boolean | undefined;
  #pullRequired: boolean | undefined;
  #pulled: EnsureReport['pulled'];
  #check: EnsureReport['check'];

  constructor(deps: EnsureDeps, failures: Map<string, PullFailure>, request: Request, signal: AbortSignal) {
    this.#deps = deps;
    this.#failures = failures;
    this.#request = request;
    this.#signal = signal;
  }

  facts(): Omit<EnsureReport, 'podUid' | 'policy'> {
    return { present: this.#present, pullRequired: this.#pullRequired, pulled: this.#pulled, check: this.#check };
  }

  async run(): Promise<ImageAnswer> {
    const { image, policy } = this.#request;
    const name = withDefaultTag(image);
    if (!name.ok) return this.#fail(texts.WAITING.invalidName, 'InspectFailed', texts.invalidName(image, name.problem));
    if (policy === 'Always') return this.#pull(name.value);
    const seen = await this.#inspect(name.value);
    if ('kind' in seen) return seen;
    this.#present = seen.image !== undefined;
    if (seen.image !== undefined && (await this.#mayUse(seen.image.id))) {
      this.#pullRequired = false;
      // Reported also where the secret is not needed now: on the next node it may be.
      if (this.#found === undefined) {
        this.#reportMissing(await this.#deps.credentials.missing(this.#request.pod, this.#signal));
      }
      const verified = this.#deps.access !== undefined;
      this.#record({ type: 'Normal', reason: 'Pulled', message: texts.alreadyPresent(image, verified) });
      return ready(seen.image);
    }
    // An image that the pod may not use counts as absent, and its presence is not reported.
    if (policy === 'Never') return this.#fail(texts.WAITING.neverPull, 'ErrImageNeverPull', texts.notPresent(image));
    return this.#pull(name.value);
  }

  async #inspect(name: string): Promise<ImageAnswer | { readonly image: Image | undefined }> {
    try {
      return await this.#deps.runtime.status(this.#spec(name), {}, this.#signal);
    } catch (error) {
      this.#signal.throwIfAborted();
      if (isInterruption(error)) throw error;
      const message = texts.inspectFailed(this.#request.image, runtimeText(error));
      return this.#fail(texts.WAITING.inspect, 'InspectFailed', message);
    }
  }

  #spec(image: string) {
    return { image, annotations: this.#request.pod.metadata.annotations ?? {} };
  }

  async #mayUse(imageId: string): Promise<boolean> {
    const { access } = this.#deps;
    if (access === undefined) return true;
    const { records, verification } = access;
    const { image } = this.#request;
    const record = records.recordOf(imageId);
    const pulledHere = record !== undefined || records.isIntended(image);
    this.#check = 'credentialPolicyAllowed';
    if (!needsVerification(verification, image, pulledHere)) return true;
    const granted = await this.#isGranted(records, imageId, record === 'unreadable' ? undefined : record);
    this.#check = granted ? 'credentialRecordFound' : 'mustAuthenticate';
    return granted;
  }

  async #isGranted(records: PullRecords, imageId: string, record: PulledRecord | undefined): Promise<boolean> {
    const { image } = this.#request;
    const judged = judgeRecord(record, image);
    if (judged.kind !== 'check-registry') return judged.kind === 'granted';
    const shown = await this.#credentials().catch(() => {
      // The credentials can't be read. Where a pull follows, it fails for the same reason and reports it.
      this.#signal.throwIfAborted();
      return [];
    });
    const { granted, learned } = judgeCredentials(judged.known, shown);
    if (learned !== undefined) {
      await records.learn(image, imageId, { secrets: [learned], serviceAccounts: [], everyPod: false });
    }
    return granted;
  }

  /** Read at most once, and not before they are needed: plugins are programs, secrets are requests. */
  #credentials(): Promise<readonly HashedCredential[]> {
    this.#found ??= this.#lookUp();
    return this.#found;
  }

  async #lookUp(): Promise<readonly HashedCredential[]> {
    const { pod, image } = this.#request;
    const name = parseImageName(image);
    if (!name.ok) return [];
    const found = await this.#deps.credentials.find(pod, name.value.repository, this.#signal);
    this.#reportMissing(found.missing);
    return found.credentials;
  }

  #reportMissing(names: readonly string[]): void {
    if (names.length === 0) return;
    const message = texts.secretsMissing(names);
    const { pod } = this.#request;
    this.#deps.record({ pod: pod.metadata, type: 'Warning', reason: 'FailedToRetrieveImagePullSecret', message });
  }

  async #pull(name: string): Promise<ImageAnswer> {
    const { clock } = this.#deps;
    const { image } = this.#request;
    this.#pullRequired = true;
    const last = this.#failures.get(this.#key());
    const until = backOffUntil(last, clock.now());
    if (until !== undefined) {
      const message = texts.backOff(image);
      this.#record({ type: 'Normal', reason: 'BackOff', message });
      return { kind: 'waiting', reason: texts.WAITING.backOff, message: `${message}: ${last?.error}`, retryAt: until };
    }
    let credentials: readonly HashedCredential[];
    try {
      credentials = await this.#credentials();
    } catch (error) {
      this.#signal.throwIfAborted();
      return this.#pullFailed(describeError(error));
    }
    const { access } = this.#deps;
    try {
      await access?.records.begin(image);
    } catch (error) {
      const message = texts.intentFailed(image, describeError(error));
      return this.#pullFailed(message);
    }
    return this.#pullWith(name, credentials);
  }

  async #pullWith(name: string, credentials: readonly HashedCredential[]): Promise<ImageAnswer> {
    const { clock, access, progress } = this.#deps;
    const { image } = this.#request;
    const started = clock.mono();
    this.#record({ type: 'Normal', reason: 'Pulling', message: texts.pulling(image) });
    let outcome: PullOutcome;
    try {
      // Its own reason: tools measure from `Pulling` on.
      using _watch = progress.watch(image, (message) =>
        this.#record({ type: 'Normal', reason: 'PullProgress', message }),
      );
      outcome = await this.#deps.pulls.pull(await this.#job(name, credentials), this.#signal);
    } catch (error) {
      access?.records.abandon(image);
      this.#signal.throwIfAborted();
      if (isInterruption(error)) throw error;
      return this.#pullFailed(runtimeText(error));
    }
    if (outcome.kind === 'failed') {
      await access?.records.failed(image);
      if (outcome.diskFull) this.#deps.onDiskFull();
      return this.#pullFailed(outcome.message);
    }
    this.#pulled = { from: clock.now() - (clock.mono() - started), to: clock.now() };
    this.#failures.delete(this.#key());
    const used = outcome.login === undefined ? undefined : credentials[outcome.login];
    await access?.records.pulled(image, outcome.image.id, credentialsUsed(used));
    const waitedMs = clock.mono() - started;
    // A pod that joined a pull under way waited only for the rest of it.
    const facts = { pullMs: Math.min(outcome.pullMs, waitedMs), waitedMs, bytes: outcome.image.size };
    this.#record({ type: 'Normal', reason: 'Pulled', message: texts.pulled(image, facts) });
    return ready(outcome.image);
  }

  async #job(name: string, credentials: readonly HashedCredential[]) {
    const { pod } = this.#request;
    return {
      // Pods of other runtime classes may need the image unpacked in another way; other credentials may not give access.
      key: JSON.stringify([name, pod.spec.runtimeClassName ?? '', credentials.map(({ hash }) => hash)]),
      image: this.#spec(name),
      sandboxConfig: await this.#deps.sandboxConfigOf(pod, this.#signal),
      logins: credentials.map(({ login: { username, password } }) => ({ username, password })),
      rank: -(pod.spec.priority ?? 0),
    };
  }

  #pullFailed(problem: string): ImageAnswer {
    const { clock } = this.#deps;
    const { image } = this.#request;
    const now = clock.now();
    this.#record({ type: 'Warning', reason: 'Failed', message: texts.pullFailed(image, problem) });
    const { reason, message } = texts.describePullError(image, problem);
    for (const [key, failure] of this.#failures) if (isForgotten(failure, now)) this.#failures.delete(key);
    this.#failures.set(this.#key(), nextFailure(this.#failures.get(this.#key()), `${reason}: ${message}`, now));
    return { kind: 'waiting', reason, message, retryAt: now + SHOW_FAILURE_MS };
  }

  #fail(reason: string, eventReason: string, message: string): ImageAnswer {
    this.#record({ type: 'Warning', reason: eventReason, message });
    return { kind: 'waiting', reason, message, retryAt: this.#deps.clock.now() + RETRY_MS };
  }

  #key(): string {
    return `${this.#request.pod.metadata.uid}_${this.#request.image}`;
  }

  #record(event: EventText): void {
    const { pod, fieldPath } = this.#request;
    this.#deps.record({ pod: pod.metadata, ...(fieldPath === undefined ? {} : { container: fieldPath }), ...event });
  }
}

function ready({ id, uid, username }: Image): ImageAnswer {
  return { kind: 'ready', imageRef: id, user: { uid: uid?.value, username } };
}
