import type { Finding, Findings } from './finding.ts';
import { validateContainers } from './validate-containers.ts';
import { validateEviction } from './validate-eviction.ts';
import { validateImages } from './validate-images.ts';
import { validateKernel } from './validate-kernel.ts';
import { validateLogFiles, validateLogging } from './validate-logging.ts';
import { validateManagers } from './validate-managers.ts';
import { validateMemory } from './validate-memory.ts';
import { validateNetwork } from './validate-network.ts';
import { validateNode } from './validate-node.ts';
import { validateNumbers } from './validate-numbers.ts';
import { validateProcess } from './validate-process.ts';
import { validateResources } from './validate-resources.ts';
import { validateShutdown } from './validate-shutdown.ts';
import { validateAccess, validateTls } from './validate-tls.ts';
import type { ValidationInput } from './validation-input.ts';

const validators: readonly ((input: ValidationInput) => Findings)[] = [
  validateNumbers,
  validateNetwork,
  validateTls,
  validateAccess,
  validateNode,
  validateContainers,
  validateImages,
  validateLogFiles,
  validateLogging,
  validateResources,
  validateManagers,
  validateMemory,
  validateKernel,
  validateEviction,
  validateShutdown,
  validateProcess,
];

/** Field or flag, its value, and the rule that was broken. */
export type Problem = Pick<Finding, 'path' | 'value' | 'rule'>;

export type ValidationOutcome = {
  /** Each of them refuses the configuration. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
};

/** Every problem at once. Feature gates and node labels are validated where they are parsed. */
export function validateConfig(input: ValidationInput): ValidationOutcome {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  for (const validator of validators) {
    for (const { severity, path, value, rule } of validator(input)) {
      (severity === 'problem' ? problems : warnings).push({ path, value, rule });
    }
  }
  return { problems, warnings };
}
