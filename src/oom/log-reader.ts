/** Reads kills from the kernel's log, each once: records up to a known position are skipped, also after the log was opened again. */
import {
  type Kill,
  NO_REPORT,
  parseKernelRecord,
  type Report,
  readKillLine,
  sequenceOf,
} from './rules/kernel-report.ts';

export interface LogReaderPorts {
  /** `isOld`: it happened before the log was read to its end for the first time. */
  readonly onKill: (kill: Kill, isOld: boolean) => void;
  /** The end of the log was reached for the first time. */
  readonly onCaughtUp: () => void;
  /** The end was reached, and there may have been kills whose records the kernel has dropped. */
  readonly onLoss: () => void;
}

export interface LogReader {
  /** Everything up to this record was read by an earlier kubelet. Without it, all that is in the log now is skipped. */
  resumeAt(position: number): void;
  /** The last record that was read. */
  position(): number;
  onRecord(raw: string): void;
  onGap(): void;
  onDrained(): void;
}

export function createLogReader(ports: LogReaderPorts): LogReader {
  let report: Report = NO_REPORT;
  let position = -1;
  let isBehind = true;
  let isFirst = true;
  let hasLost = false;

  const readRecord = (raw: string): void => {
    const record = parseKernelRecord(raw);
    if (record === undefined) return;
    const read = readKillLine(report, record);
    report = read.report;
    if (read.kill !== undefined) ports.onKill(read.kill, isBehind);
  };

  return {
    resumeAt: (known) => {
      position = known;
      isFirst = false;
    },
    position: () => position,
    onRecord: (raw) => {
      const sequence = sequenceOf(raw);
      if (sequence === undefined || sequence <= position) return;
      if (!isFirst && sequence > position + 1) hasLost = true;
      position = sequence;
      if (!isFirst) readRecord(raw);
    },
    onGap: () => {
      hasLost = true;
    },
    onDrained: () => {
      isFirst = false;
      if (isBehind) {
        isBehind = false;
        ports.onCaughtUp();
      }
      if (!hasLost) return;
      hasLost = false;
      ports.onLoss();
    },
  };
}
