/** What users read about images: reasons and messages that dashboards and people search for, as the reference writes them. */
import { formatDuration } from '../../api/duration.ts';
import { quoteText } from '../../base/go-text.ts';

/** Why a container waits. */
export const WAITING = {
  invalidName: 'InvalidImageName',
  inspect: 'ImageInspectError',
  neverPull: 'ErrImageNeverPull',
  pull: 'ErrImagePull',
  backOff: 'ImagePullBackOff',
} as const;

/** As much of a name as can be valid: this is shown in the pod's status. */
const LONGEST_SHOWN = 2048;

export const invalidName = (image: string, problem: string): string =>
  `Failed to apply default image tag ${quoteText(image.slice(0, LONGEST_SHOWN))}: ${problem}`;

export const inspectFailed = (image: string, problem: string): string =>
  `Failed to inspect image ${quoteText(image)}: ${problem}`;

export const notPresent = (image: string): string =>
  `Container image ${quoteText(image)} is not present with pull policy of Never`;

export const alreadyPresent = (image: string, verified: boolean): string =>
  `Container image ${quoteText(image)} already present on machine${verified ? ' and can be accessed by the pod' : ''}`;

export const pulling = (image: string): string => `Pulling image ${quoteText(image)}`;

export const backOff = (image: string): string => `Back-off pulling image ${quoteText(image)}`;

export const pullFailed = (image: string, problem: string): string =>
  `Failed to pull image ${quoteText(image)}: ${problem}`;

export const intentFailed = (image: string, problem: string): string =>
  `Failed to record image pull intent for container image ${quoteText(image)}: failed to record image pull intent: ${problem}`;

export const secretsMissing = (names: readonly string[]): string =>
  `Unable to retrieve some image pull secrets (${names.join(', ')}); attempting to pull the image may not succeed.`;

/** Durations in whole milliseconds, as the reference cuts them. */
export function pulled(image: string, facts: { pullMs: number; waitedMs: number; bytes: number }): string {
  const [pull, waited] = [facts.pullMs, facts.waitedMs].map((ms) => formatDuration(Math.trunc(ms)));
  return `Successfully pulled image ${quoteText(image)} in ${pull} (${waited} including waiting). Image size: ${facts.bytes} bytes.`;
}

/** Several attempts that failed, as one text: each different error once. */
export function joinErrors(messages: readonly string[]): string {
  const different = [...new Set(messages)];
  return different.length === 1 ? (different[0] ?? '') : `[${different.join(', ')}]`;
}

/** Texts by which these two cases differ from any other failure of a runtime. */
const TELLING: readonly { readonly reason: string; readonly why: string }[] = [
  { reason: 'RegistryUnavailable', why: 'the registry is unavailable' },
  { reason: 'SignatureValidationFailed', why: 'the signature validation failed' },
];

export function describePullError(image: string, error: string): { readonly reason: string; readonly message: string } {
  const known = TELLING.find(({ reason }) => error.startsWith(reason));
  if (known === undefined) return { reason: WAITING.pull, message: error };
  const { reason, why } = known;
  return { reason, message: `image pull failed for ${image} because ${why}${error.slice(reason.length)}` };
}
