/** The texts of events about killed processes. */
import { formatQuantity, quantityFromUnits } from '../../api/quantity.ts';
import type { EventText } from '../../model/event.ts';
import type { Kill } from './kernel-report.ts';
import type { OomLevel } from './owner.ts';

/** In the reference's words. */
export function systemOomEvent({ process, pid }: Pick<Kill, 'process' | 'pid'>): EventText {
  const victim = process === '' || pid === 0 ? '' : `, victim process: ${process}, pid: ${pid}`;
  return { type: 'Warning', reason: 'SystemOOM', message: `System OOM encountered${victim}` };
}

export interface KillText {
  /** Undefined: only that there was a kill is known. */
  readonly victim: Pick<Kill, 'process' | 'pid'> | undefined;
  readonly container: string | undefined;
  readonly level: OomLevel;
  readonly limitBytes: number | undefined;
}

export function podOomEvent({ victim, container, level, limitBytes }: KillText): EventText {
  const who = victim === undefined ? 'A process' : `Process ${victim.process} (pid ${victim.pid})`;
  const where = container === undefined ? '' : ` in container ${container}`;
  const limit =
    limitBytes === undefined ? '' : ` of ${formatQuantity(quantityFromUnits(BigInt(limitBytes), 'binary'))}`;
  return {
    type: 'Warning',
    reason: 'OOMKilled',
    message: `${who}${where} was killed: ${REASONS[level].replace('LIMIT', `memory limit${limit}`)}`,
  };
}

const REASONS: Readonly<Record<OomLevel, string>> = {
  container: 'the container reached its LIMIT',
  pod: 'the pod reached its LIMIT',
  class: 'the pods of its QoS class reached their LIMIT',
  pods: 'all pods together reached the LIMIT',
  node: 'the node ran out of memory',
  unknown: 'a LIMIT was reached',
};
