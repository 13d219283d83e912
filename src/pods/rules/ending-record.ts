/** The text of the file with how a pod ended. */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import type { PodPhase } from '../../api/pod-status.ts';
import type { PodEnding } from '../../model/pod-view.ts';

const VERSION = 1;
const PHASES: readonly PodPhase[] = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

interface Named {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}

export function encodeEnding({ uid, name, namespace }: Named, end: PodEnding | undefined): string {
  return `${JSON.stringify({ version: VERSION, uid, name, namespace, end: end ?? null })}\n`;
}

/** The value undefined: it finished by itself, and its containers show how. */
export function decodeEnding(text: string): Parsed<PodEnding | undefined> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return unparsable(`not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const record = fieldsOf(value);
  if (record['version'] !== VERSION) return unparsable(`version ${String(record['version'])} instead of ${VERSION}`);
  if (record['end'] === null) return parsed(undefined);
  const { phase, reason, message } = fieldsOf(record['end']);
  const known = PHASES.find((one) => one === phase);
  if (known === undefined) return unparsable(`phase ${String(phase)}: allowed are ${PHASES.join(', ')}`);
  if (typeof reason !== 'string' || typeof message !== 'string') return unparsable('reason or message is not a string');
  const disruption = fieldsOf(fieldsOf(record['end'])['disruption']);
  const reported = { reason: String(disruption['reason'] ?? ''), message: String(disruption['message'] ?? '') };
  return parsed({
    phase: known,
    reason,
    message,
    ...(fieldsOf(record['end'])['rejected'] === true ? { rejected: true } : {}),
    ...(fieldsOf(record['end'])['whileClosed'] === true ? { whileClosed: true } : {}),
    ...(reported.reason === '' ? {} : { disruption: reported }),
  });
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
