/** Which cgroup driver the container runtime uses, where it can say. */
import type { Logger } from '../base/logger.ts';
import type { CgroupDriver } from './rules/cgroup-name.ts';

export interface RuntimeDriverDeps {
  readonly log: Logger;
  /** `unsupported`: the runtime lacks the call. */
  readonly ask: (signal: AbortSignal) => Promise<CgroupDriver | 'unsupported' | undefined>;
  /** Called with the first version of Kubernetes whose kubelet no longer works with this runtime. */
  readonly onLosesSupport?: ((version: string) => void) | undefined;
}

/** The first version whose kubelet no longer works with a runtime that can't say which cgroup driver it uses. */
const RUNTIME_CONFIG_REQUIRED_FROM = '1.37.0';

/** Undefined: the runtime does not say, so the configuration counts. */
export async function askRuntimeDriver(
  { log, ask, onLosesSupport }: RuntimeDriverDeps,
  signal: AbortSignal,
): Promise<CgroupDriver | undefined> {
  const driver = await ask(signal);
  if (driver !== 'unsupported') return driver;
  log.info(
    'CRI implementation should be updated to support RuntimeConfig. Falling back to using cgroupDriver from kubelet config.',
  );
  onLosesSupport?.(RUNTIME_CONFIG_REQUIRED_FROM);
  return undefined;
}
