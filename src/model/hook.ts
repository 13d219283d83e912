/** A lifecycle hook of a container: `act/` requests it, `probes/` runs it. */
import type { Container, LifecycleHandler } from '../api/container.ts';
import type { ContainerId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';

export interface Hook {
  readonly kind: 'postStart' | 'preStop';
  readonly handler: LifecycleHandler;
  readonly pod: Pod;
  readonly container: Container;
  readonly containerId: ContainerId;
  readonly podIps: readonly string[];
}
