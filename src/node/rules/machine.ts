/** Machines that a kubelet refuses unless it was told otherwise. */
export interface MachineWishes {
  readonly failCgroupV1: boolean;
  readonly failSwapOn: boolean;
}

export interface MachineFacts {
  readonly cgroupVersion: 1 | 2;
  readonly swapAreas: readonly string[];
}

/** Why the kubelet must not start on this machine, naming the setting that allows it; undefined where it may. */
export function refuseMachine(wishes: MachineWishes, facts: MachineFacts): string | undefined {
  if (wishes.failCgroupV1 && facts.cgroupVersion === 1) {
    return 'this machine uses cgroup v1, which is in maintenance mode: boot it with cgroup v2, or set failCgroupV1 to false';
  }
  if (wishes.failSwapOn && facts.swapAreas.length > 0) {
    const areas = facts.swapAreas.join(', ');
    return `running with swap on is not supported (in use: ${areas}): disable swap, or set failSwapOn (--fail-swap-on) to false`;
  }
  return undefined;
}
