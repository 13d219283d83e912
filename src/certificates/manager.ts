/**
 * Keeps one certificate of the node good: requests it where there is none, and again before it ends or when it no longer names what it
 * should.
 *
 *   decide ──good──► wait for its deadline, or until something changes ──► decide
 *     └──missing, expired, due──► request ──issued──► store, notify ──► decide
 *                                    └──failed──► back-off ──► decide
 */
import { createAlarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import { sameJson } from '../base/same-json.ts';
import { type LinkedSignal, linkSignal } from '../base/signal.ts';
import type { Supervisor } from '../base/supervise.ts';
import { createWakeBit } from '../base/wake.ts';
import { makeKey } from './key.ts';
import type { CertificatePair } from './pair.ts';
import { requestCertificate, type SigningApi } from './request.ts';
import type { CertificateTemplate } from './rules/certificate-request.ts';
import type { CertificateProgress } from './rules/progress.ts';
import { decideRotation, type RotationDecision, retryAfterMs } from './rules/rotation.ts';
import type { CertificateStore } from './store.ts';

export interface CertificateManager extends Part {
  /** Undefined: there is none yet. May have expired. */
  current(): CertificatePair | undefined;
  /** Reads what is in the store; `start` does it where no one has. */
  load(): Promise<void>;
  /** What it does now. */
  progress(): CertificateProgress;
  /** The template may have changed, or the API server is back. */
  look(): void;
}

export interface ManagerDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  /** 0 to below 1. */
  readonly random: () => number;
  readonly store: CertificateStore;
  /** Whom to ask: a certificate that has expired opens no door, so it is decided for each request. */
  api(current: CertificatePair | undefined, signal: AbortSignal): Promise<SigningApi>;
  /** Undefined: not known yet. */
  template(): CertificateTemplate | undefined;
  /**
   * A key that outlives a kill, for a first certificate whose request may wait for hours. Undefined: the request is a renewal, and gets a
   * new key. Called after `api`.
   */
  lastingKey(): LastingKey | undefined;
  /** A new certificate is in the store. `lived`: how long the one before was used, ms. */
  onChange(pair: CertificatePair, lived: number | undefined): Promise<void>;
  onFailure(): void;
  /** Called at each step from one state to another. */
  onProgress?(before: CertificateProgress, now: CertificateProgress): void;
}

export interface LastingKey {
  load(): Promise<string>;
  remove(): Promise<void>;
}

export interface ManagerConfig {
  /** For the log: `client certificate`. */
  readonly name: string;
  readonly signerName: string;
  readonly usages: readonly string[];
  /** Whether a good certificate is replaced before its end. */
  readonly rotates: boolean;
}

/** Of the reference. */
const WAIT_FOR_DECISION_MS = 15 * 60_000;
const WAIT_FOR_FIRST_DECISION_MS = 60 * 60_000;
const STARTING = 'the kubelet has just started';
/** Clocks jump: no wait is longer than this, and then it is decided again. */
const LONGEST_WAIT_MS = 10 * 60_000;

export function createCertificateManager(deps: ManagerDeps, config: ManagerConfig): CertificateManager {
  const { clock, log } = deps;
  const bit = createWakeBit();
  const alarm = createAlarm(clock, bit.wake);
  const state: ManagerState = {
    pair: undefined,
    receivedAt: undefined,
    unstored: undefined,
    jitter: deps.random(),
    failures: 0,
    retryAtMono: 0,
    progress: { kind: 'waiting', reason: STARTING, goodUntil: undefined },
  };
  let life: LinkedSignal | undefined;

  const show = (progress: CertificateProgress) => {
    const before = state.progress;
    state.progress = progress;
    if (!sameJson(before, progress)) deps.onProgress?.(before, progress);
  };
  const decide = ({ pair, receivedAt }: Pick<ManagerState, 'pair' | 'receivedAt'> = state): RotationDecision =>
    decideRotation({
      certificate: pair?.facts,
      receivedAt,
      template: deps.template(),
      rotates: config.rotates,
      jitter: state.jitter,
      now: clock.now(),
    });
  const request = async (reason: string, signal: AbortSignal): Promise<void> => {
    log.info('Rotating certificates', { certificate: config.name, reason });
    try {
      const { unstored } = state;
      const isUsable = unstored !== undefined && decide(unstored).kind === 'wait';
      const issued = isUsable ? unstored : await obtain(deps, config, state.pair, { show }, signal);
      const { pair, receivedAt, lastingKey } = issued;
      state.unstored = issued;
      await deps.store.update(pair);
      state.unstored = undefined;
      await lastingKey?.remove();
      const lived = state.pair && clock.now() - state.pair.facts.notBefore;
      Object.assign(state, { pair, receivedAt, jitter: deps.random(), failures: 0, retryAtMono: 0 });
      log.info('Certificate rotation is done', { certificate: config.name, expiration: isoTime(pair.facts.notAfter) });
      await deps.onChange(pair, lived);
    } catch (err) {
      if (signal.aborted) return;
      state.failures += 1;
      const wasDenied = err instanceof CodedError && err.data['wasDenied'] === true;
      const retryInMs = retryAfterMs(state.failures, wasDenied, deps.random());
      state.retryAtMono = clock.mono() + retryInMs;
      log.error('Failed to obtain a certificate', { certificate: config.name, err, retryInMs });
      deps.onFailure();
      show({ kind: 'failed', problem: describe(err), goodUntil: state.pair?.facts.notAfter });
    }
  };
  const pass = async (signal: AbortSignal): Promise<void> => {
    const decision = decide();
    if (decision.kind === 'wait') {
      show(decision.until === undefined ? waiting(decision.reason) : { kind: 'good' });
      alarm.ringAt(Math.min(decision.until ?? Number.POSITIVE_INFINITY, clock.now() + LONGEST_WAIT_MS));
      return;
    }
    if (clock.mono() >= state.retryAtMono) await request(decision.reason, signal);
    if (decide().kind === 'request') alarm.ringAt(clock.now() + Math.max(state.retryAtMono - clock.mono(), 0));
    else bit.wake();
  };
  const waiting = (reason: string): CertificateProgress => ({
    kind: 'waiting',
    reason,
    goodUntil: state.pair?.facts.notAfter,
  });
  const load = async () => {
    state.pair ??= await deps.store.current();
    show(waiting(STARTING));
  };
  return {
    name: config.name,
    load,
    start: async (signal) => {
      await load();
      life = linkSignal(signal);
      void deps.supervisor.run(
        { name: 'certificate rotation', about: { certificate: config.name }, pass, rest: bit.wait },
        life.signal,
      );
    },
    stop: () => {
      alarm.clear();
      life?.abort('stopped');
    },
    current: () => state.pair,
    progress: () => state.progress,
    look: bit.wake,
  };
}

interface Issued {
  readonly pair: CertificatePair;
  readonly receivedAt: number;
  readonly lastingKey: LastingKey | undefined;
}

interface ManagerState {
  pair: CertificatePair | undefined;
  /** Wall clock; undefined: it was in the store at the start. */
  receivedAt: number | undefined;
  /** Issued, and not written: the disk is full, for one. Only the write is retried, so that the cluster does not fill up with requests. */
  unstored: Issued | undefined;
  /** Drawn anew for each certificate. */
  jitter: number;
  /** In a row. */
  failures: number;
  /** No request before this. Monotonic, because a clock that is set back must not stop requests. */
  retryAtMono: number;
  progress: CertificateProgress;
}

async function obtain(
  deps: ManagerDeps,
  { signerName, usages }: ManagerConfig,
  current: CertificatePair | undefined,
  { show }: { show(progress: CertificateProgress): void },
  signal: AbortSignal,
): Promise<Issued> {
  const template = deps.template();
  if (template === undefined) throw new CodedError('unavailable', 'it is not known what to ask for');
  const { clock, log } = deps;
  const api = await deps.api(current, signal);
  const lastingKey = deps.lastingKey();
  const pair = await requestCertificate(
    { clock, log, api },
    {
      template,
      signerName,
      usages,
      key: lastingKey === undefined ? await makeKey() : await lastingKey.load(),
      isNamed: lastingKey !== undefined,
      waitMs: waitFor(current, lastingKey, clock.now()),
      onPending: (name) => show({ kind: 'pending', request: name, goodUntil: current?.facts.notAfter }),
    },
    signal,
  ).catch(async (error: unknown) => {
    // The name follows from the key: with the same key the next attempt would find the same certificate.
    if (error instanceof CodedError && error.data['isStale'] === true) await lastingKey?.remove();
    throw error;
  });
  return { pair, receivedAt: clock.now(), lastingKey };
}

/** No longer than the certificate that the kubelet asks with is good: after that it can't see the answer, and must ask as one that joins. */
function waitFor(current: CertificatePair | undefined, lastingKey: LastingKey | undefined, now: number): number {
  const longest = lastingKey === undefined ? WAIT_FOR_DECISION_MS : WAIT_FOR_FIRST_DECISION_MS;
  const left = current === undefined ? 0 : current.facts.notAfter - now;
  return left > 0 ? Math.min(left, longest) : longest;
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const isoTime = (ms: number): string => Temporal.Instant.fromEpochMilliseconds(ms).toString({ smallestUnit: 'second' });
