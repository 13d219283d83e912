/** What is done about a node before pods: checks that refuse to start, and work that goes on in the background. */
import type { Quantities } from '../api/pod-resources.ts';
import { CodedError } from '../base/errors.ts';
import { type EnforcementDeps, enforcePods, enforceReserved, untilDriverIsKnown } from './enforcement.ts';
import { applyKernelSettings } from './kernel-settings.ts';
import type { NodeCgroups } from './node-cgroups.ts';
import { checkOwnCgroups, runOwnCgroups } from './own-cgroups.ts';
import type { PodCgroups } from './pod-cgroups.ts';
import type { ResourcesConfig, ResourcesDeps } from './resources.ts';
import { checkReservations, computeEnforced } from './rules/allocatable.ts';
import { type CgroupLimits, limitsOf } from './rules/cgroup-limits.ts';
import { cgroupPath, parseCgroupName } from './rules/cgroup-name.ts';
import { planEnforcement } from './rules/enforcement.ts';

export interface NodeSetup {
  readonly deps: ResourcesDeps;
  readonly config: ResourcesConfig;
  readonly node: NodeCgroups;
  readonly pods: PodCgroups;
  readonly capacity: Quantities;
  /** Called with work that ends with the signal. */
  readonly track: (work: Promise<void>) => void;
}

const REFRESH_MS = 60_000;
const RETRY_MS = 1000;

/** Throws where a kubelet must not start. */
export async function setUpNode(setup: NodeSetup, signal: AbortSignal): Promise<void> {
  const { deps, config, node, capacity, track } = setup;
  const { enforcement } = config;
  checkReservations(capacity, enforcement.reservations);
  checkOwnCgroups(config.own);
  applyKernelSettings(deps.kernel, deps.log, config.protectKernel);
  track(runOwnCgroups(deps, config.own, signal));
  if (config.cgroupsPerQos) {
    await checkRoot(setup, signal);
    track(keepCgroups(setup, signal));
  }
  const plan = planEnforcement(enforcement, deps.cpus());
  await enforceReserved({ ...deps, node }, { plan, cgroupsPerQos: config.cgroupsPerQos }, signal);
}

/** The root of all is always there; what any other is called depends on the driver. */
async function checkRoot({ deps, config, node }: NodeSetup, signal: AbortSignal): Promise<void> {
  const name = parseCgroupName(config.cgroupRoot);
  if (name.length > 0) await untilDriverIsKnown({ ...deps, node }, signal);
  const root = cgroupPath(name, node.driver());
  if (deps.cgroups.exists(root)) return;
  const fault = 'is not a cgroup of every controller on this machine';
  throw new CodedError('invalid', `cgroupRoot ${JSON.stringify(root)} ${fault}`);
}

/** Creates the cgroups above pods, holds all pods to their part of the node, and looks at everything again every minute. */
async function keepCgroups({ deps, config, node, pods, capacity }: NodeSetup, signal: AbortSignal): Promise<void> {
  const { clock, log, supervisor } = deps;
  const enforcement: EnforcementDeps = { ...deps, node };
  const forPods = config.enforcePods ? computeEnforced(capacity, config.enforcement.reservations) : capacity;
  const limits: CgroupLimits = { ...limitsOf(forPods), cpus: deps.cpus(), hugePages: 'unbounded' };
  let enforced: Promise<void> | undefined;
  const pass = async () => {
    try {
      await node.ensure(signal);
    } catch (error) {
      // The first pod reports why.
      log.v(2)?.info('Failed to create the cgroups of all pods, will retry', { err: error });
      return;
    }
    if (enforced === undefined) enforced = enforcePods(enforcement, limits, signal);
    else await node.refresh(signal);
    await pods.sweep(signal);
  };
  const rest = () => clock.sleep(enforced === undefined ? RETRY_MS : REFRESH_MS, signal);
  await supervisor.run({ name: 'cgroups', pass, rest }, signal);
  await enforced;
}
