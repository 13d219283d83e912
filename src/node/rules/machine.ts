/** Machines that a kubelet refuses unless it was told otherwise. (cgroup v1 is refused with the configuration: `failCgroupV1`.) */
export interface MachineRequests {
  readonly failSwapOn: boolean;
}

export interface MachineFacts {
  readonly swapAreas: readonly string[];
}

/** Why the kubelet must not start on this machine, naming the setting that allows it; undefined where it may. */
export function refuseMachine(requests: MachineRequests, facts: MachineFacts): string | undefined {
  if (!requests.failSwapOn || facts.swapAreas.length === 0) return undefined;
  const areas = facts.swapAreas.join(', ');
  return `running with swap on is not supported (in use: ${areas}): disable swap, or set failSwapOn (--fail-swap-on) to false`;
}
