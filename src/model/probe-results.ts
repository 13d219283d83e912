/** The verdicts of probes, as plans and statuses read them. */
import type { ContainerId } from '../api/ids.ts';

export type ProbeVerdict = 'success' | 'failure' | 'unknown';

export interface ProbeResults {
  /** `unknown` until the first result; a container without that probe has no entry. */
  readonly startup: ReadonlyMap<ContainerId, ProbeVerdict>;
  readonly liveness: ReadonlyMap<ContainerId, ProbeVerdict>;
  readonly readiness: ReadonlyMap<ContainerId, ProbeVerdict>;
}
