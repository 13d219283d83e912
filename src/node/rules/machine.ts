/** Machines on which a kubelet does not start unless a setting allows it. (For cgroup v1 it is `failCgroupV1`.) */
export interface MachineRequests {
  readonly failSwapOn: boolean;
}

export interface MachineFacts {
  readonly swapAreas: readonly string[];
}

/** Why the kubelet must not start on this machine, with the setting that allows it; undefined: it may. */
export function refuseMachine(requests: MachineRequests, facts: MachineFacts): string | undefined {
  if (!requests.failSwapOn || facts.swapAreas.length === 0) return undefined;
  const areas = facts.swapAreas.join(', ');
  return `running with swap on is not supported (in use: ${areas}): disable swap, or set failSwapOn (--fail-swap-on) to false`;
}
