/** What is done for volumes, and how long it takes: for metrics. */
import type { Clock } from '../base/clock.ts';

/** The reference kubelet's names where it counts the same operation. */
export type OperationName =
  | 'verify_controller_attached_volume'
  | 'volume_attach'
  | 'volume_mount'
  | 'volume_apply_access_control'
  | 'volume_unmount'
  /** A volume of an earlier kubelet is managed from now on, or removed. */
  | 'reconstruct'
  /** A volume of an earlier kubelet, of a kind that this one does not know, is removed. */
  | 'force_clean'
  /** Its size was measured. */
  | 'measure';

export interface VolumeOperation {
  readonly plugin: string;
  readonly operation: OperationName;
  readonly seconds: number;
  readonly failed: boolean;
}

export interface Operations {
  /** Does the work and reports how long it took; what is aborted is not reported. */
  run<T>(work: CountedWork<T>, signal: AbortSignal): Promise<T>;
  report(operation: VolumeOperation): void;
}

export interface CountedWork<T> extends Pick<VolumeOperation, 'plugin' | 'operation'> {
  readonly work: () => Promise<T>;
  /** Whether an answer counts as a success; without it every answer does. */
  readonly succeeded?: (answer: T) => boolean;
}

export function createOperations(clock: Clock, report: (operation: VolumeOperation) => void): Operations {
  return {
    report,
    run: async ({ plugin, operation, work, succeeded = () => true }, signal) => {
      const began = clock.mono();
      const done = (failed: boolean) => report({ plugin, operation, seconds: (clock.mono() - began) / 1000, failed });
      try {
        const answer = await work();
        done(!succeeded(answer));
        return answer;
      } catch (error) {
        if (!signal.aborted) done(true);
        throw error;
      }
    },
  };
}
