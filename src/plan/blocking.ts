/** Of all the steps of a pod the one that holds it up, and the answer in one sentence. */
import { formatDuration } from '../api/duration.ts';
import { quoteText } from '../base/go-text.ts';
import type { DownloadProgress, ExplainedStep, PodExplanation, StepError, WaitCause } from '../model/explanation.ts';
import type { Actor, StepSubject } from '../model/step.ts';

/** Undefined: no step is left to be done. */
export function blockingStep({ steps }: Pick<PodExplanation, 'steps'>): ExplainedStep | undefined {
  let found: ExplainedStep | undefined;
  for (const step of steps) {
    if (rankOf(step) < (found === undefined ? Number.POSITIVE_INFINITY : rankOf(found))) found = step;
  }
  return found;
}

/** In one sentence; empty: nothing holds the pod up. */
export function whyText(explanation: Pick<PodExplanation, 'steps'>, now: number): string {
  const step = blockingStep(explanation);
  return step === undefined ? '' : describeStep(step, { now });
}

/** The smaller, the more it is the cause and not a consequence. */
function rankOf(step: ExplainedStep): number {
  const { state } = step;
  switch (state.kind) {
    case 'refused':
      return 0;
    case 'under-way':
      return errorOf(step) === undefined ? 3 : 2;
    case 'waiting':
      return state.for.kind === 'step' ? Number.POSITIVE_INFINITY : WAITING[state.for.kind];
    case 'done':
      return Number.POSITIVE_INFINITY;
  }
}

const WAITING: Readonly<Record<Exclude<WaitCause['kind'], 'step'>, number>> = {
  retry: 1,
  'back-off': 1,
  container: 4,
  preemption: 4,
  turn: 5,
};

/** A warning does not hold a step up. */
const errorOf = ({ lastError }: ExplainedStep): StepError | undefined =>
  lastError?.isWarning === true ? undefined : lastError;

export interface DescribeTerms {
  /** Wall clock, ms. */
  readonly now: number;
  readonly download?: DownloadProgress | undefined;
}

export function describeStep(step: ExplainedStep, { now, download }: DescribeTerms): string {
  const { state, failures, retryAt } = step;
  const error = errorOf(step);
  const what = subjectText(step.subject);
  if (state.kind === 'done') return `${what}: done`;
  const since = `for ${ago(now - state.since)}`;
  const doing =
    state.kind === 'under-way'
      ? `under way ${since}`
      : state.kind === 'refused'
        ? 'refused'
        : waitText(state.for, since);
  const parts = [
    `${what}: ${doing}`,
    ...(download === undefined ? [] : [downloadText(download)]),
    ...(error === undefined ? [] : [`${error.reason}: ${error.message}`]),
    ...(failures > 1 ? [`failed ${failures} times`] : []),
    ...(retryAt === undefined ? [] : [retryAt > now ? `next try in ${ago(retryAt - now)}` : 'next try now']),
    ...(state.kind === 'under-way' && error === undefined
      ? [`waits for ${ACTORS[state.actor]}`]
      : [`${ACTORS[state.actor]} has to act`]),
  ];
  return parts.join('; ');
}

const ACTORS: Readonly<Record<Actor, string>> = {
  user: 'the user',
  registry: 'the registry',
  'api-server': 'the API server',
  volume: 'the volume',
  runtime: 'the container runtime',
  node: 'the node',
  container: 'the program in the container',
};

function waitText(cause: WaitCause, since: string): string {
  switch (cause.kind) {
    case 'step':
      return `waits for ${subjectText(cause.subject)} ${since}`;
    case 'retry':
      return `fails ${since}`;
    case 'back-off':
      return `ended with exit code ${cause.exitCode}, and rests before it starts again`;
    case 'container':
      return `waits ${since} until container ${quoteText(cause.container)} has ${cause.until}`;
    case 'preemption':
      return `waits ${since} until ${cause.pods.map(({ namespace, name }) => `${namespace}/${name}`).join(', ')} ended`;
    case 'turn':
      return `waits ${since} for its turn among the pods that start`;
  }
}

function subjectText(subject: StepSubject): string {
  const container = 'container' in subject ? ` of container ${quoteText(subject.container)}` : '';
  switch (subject.kind) {
    case 'image':
      return `image ${quoteText(subject.image)}${container}`;
    case 'volume':
      return `volume ${quoteText(subject.name)} (${subject.stage})`;
    case 'container':
      return `container ${quoteText(subject.container)}`;
    case 'hook':
      return `${subject.hook} hook${container}`;
    default:
      return `${subject.kind.replaceAll('-', ' ')}${container}`;
  }
}

function downloadText({ receivedBytes, totalBytes, bytesPerSecond, secondsLeft }: DownloadProgress): string {
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
  return [
    `${megabytes(receivedBytes)}${totalBytes === undefined ? '' : ` of ${megabytes(totalBytes)}`} received`,
    ...(bytesPerSecond === undefined ? [] : [`${megabytes(bytesPerSecond)}/s`]),
    ...(secondsLeft === undefined ? [] : [`${ago(secondsLeft * 1000)} left`]),
  ].join(', ');
}

const ago = (ms: number): string => formatDuration(Math.max(Math.round(ms / 1000), 0) * 1000);

export interface LayerProgress {
  readonly receivedBytes: number;
  /** 0 where it is not known. */
  readonly totalBytes: number;
  /** Wall clock, ms; undefined where it is not known. */
  readonly startedAt?: number | undefined;
}

/** Undefined: nothing is downloaded at the moment, or no one knows. */
export function downloadOf(layers: readonly LayerProgress[] | undefined, now: number): DownloadProgress | undefined {
  if (layers === undefined || layers.length === 0) return undefined;
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
  const receivedBytes = sum(layers.map((layer) => layer.receivedBytes));
  const total = layers.every(({ totalBytes }) => totalBytes > 0)
    ? sum(layers.map((layer) => layer.totalBytes))
    : undefined;
  const started = Math.min(...layers.map(({ startedAt }) => startedAt ?? now));
  const seconds = (now - started) / 1000;
  const speed = seconds > 0 ? Math.round(receivedBytes / seconds) : 0;
  return {
    receivedBytes,
    ...(total !== undefined && { totalBytes: total }),
    ...(speed > 0 && { bytesPerSecond: speed }),
    ...(speed > 0 && total !== undefined && { secondsLeft: Math.ceil(Math.max(total - receivedBytes, 0) / speed) }),
  };
}
