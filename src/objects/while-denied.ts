/**
 * The API server lets a node read what its pods refer to, and may see a new pod a moment later than the node: a refusal
 * at that time is retried.
 */
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { KubeErrorData } from '../kube/kube.ts';

/** A busy API server was seen to need more than half a second. */
const PAUSES_MS = [5, 10, 20, 40, 80, 160, 320, 640, 1280];

export async function whileDenied<T>(clock: Clock, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (const pause of PAUSES_MS) {
    try {
      return await work();
    } catch (error) {
      if (!isTooEarly(error)) throw error;
    }
    await clock.sleep(pause, signal);
  }
  return work();
}

/** Refused, or the pod of a requested token is not known there yet. */
function isTooEarly(error: unknown): boolean {
  if (!(error instanceof CodedError)) return false;
  const { status }: KubeErrorData = error.data;
  return error.code === 'denied' || (error.code === 'notFound' && status?.details?.kind === 'pods');
}
