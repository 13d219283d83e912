/** Checks the kernel settings that pods rely on, and corrects them unless `protectKernelDefaults` forbids it. */
import { CodedError, describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { planKernelSettings } from './rules/kernel-settings.ts';

export interface KernelSettingsPort {
  /** Undefined where this kernel has no such setting. */
  read(name: string): number | undefined;
  write(name: string, value: number): void;
}

/** Throws where a setting is wrong and must not be changed. One that can't be written is logged: pods may run without it. */
export function applyKernelSettings(kernel: KernelSettingsPort, log: Logger, protect: boolean): void {
  const { changes, refusal } = planKernelSettings(kernel.read, { protect });
  if (refusal !== undefined) throw new CodedError('unsupported', refusal);
  for (const { name, value } of changes) {
    log.v(2)?.info('Updating kernel flag', { flag: name, expectedValue: value, actualValue: kernel.read(name) });
    try {
      kernel.write(name, value);
    } catch (error) {
      log.warn('Updating kernel flag failed', { flag: name, err: describeError(error) });
    }
  }
}
