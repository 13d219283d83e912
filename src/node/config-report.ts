/** Reports what became of a changed configuration: an event and a condition of the node where it was refused, until a good one comes. */
import type { Config } from '../config/config.ts';
import type { RecordNodeEvent } from '../model/event.ts';
import type { OtherCondition } from './rules/conditions.ts';

export interface ConfigReport {
  refused(problems: readonly string[]): void;
  /** These are in force now. */
  accepted(config: Config): void;
  inForce(): Config;
  /** None before a changed configuration was refused for the first time. */
  conditions(): readonly OtherCondition[];
}

/** As long as the message of an event may be. */
const LONGEST_MESSAGE = 1024;
const IN_USE = 'The configuration files are in use';

export function createConfigReport(atStart: Config, record: RecordNodeEvent): ConfigReport {
  let config = atStart;
  let problem: string | undefined;
  let wasRefused = false;
  return {
    refused: (problems) => {
      problem = problems.join('; ').slice(0, LONGEST_MESSAGE);
      wasRefused = true;
      record({ node: true, type: 'Warning', reason: 'KubeletConfigRefused', message: problem });
    },
    inForce: () => config,
    accepted: (next) => {
      config = next;
      if (problem !== undefined)
        record({ node: true, type: 'Normal', reason: 'KubeletConfigAccepted', message: IN_USE });
      problem = undefined;
    },
    conditions: () => {
      if (!wasRefused) return [];
      const isTrue = problem === undefined;
      const reason = isTrue ? 'KubeletConfigAccepted' : 'KubeletConfigRefused';
      return [{ type: 'KubeletConfigOk', isTrue, reason, message: problem ?? IN_USE }];
    },
  };
}
