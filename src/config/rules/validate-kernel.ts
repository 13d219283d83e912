import { type Findings, problem } from './finding.ts';
import type { ValidationInput } from './validation-input.ts';

const idsInOneRange = 65_536;
const highestId = 2 ** 32 - 1;

/** Rules that depend on the kernel interface of this machine. */
export function* validateKernel({ kubelet, machine }: ValidationInput): Findings {
  if (machine.cgroupVersion === 1) {
    if (kubelet.failCgroupV1) {
      yield problem('failCgroupV1', true, 'this machine has cgroup v1; set it to false to run here all the same');
    }
    if (kubelet.singleProcessOOMKill === false) {
      yield problem('singleProcessOOMKill', false, 'must not be false with cgroup v1, which this machine has');
    }
  }
  const ids = kubelet.userNamespaces?.idsPerPod;
  if (ids !== undefined && (ids < idsInOneRange || ids > highestId || ids % idsInOneRange !== 0)) {
    const rule = `must be a multiple of ${idsInOneRange} between ${idsInOneRange} and ${highestId}`;
    yield problem('userNamespaces.idsPerPod', ids, rule);
  }
}
