/** What the page on port 4194 asks for: samples for its charts, and cgroups in the form of cAdvisor's REST API. */
import type { Clock } from '../base/clock.ts';
import type { UsageSample } from '../model/usage-sample.ts';
import type { KernelFilesPort } from './cgroup-files.ts';
import type { Collector } from './collector.ts';
import { type CadvisorContainer, containerInfos, containersByName } from './rules/container-info.ts';
import { type NodeGroups, planTargets, type StatsPod, type Target } from './rules/targets.ts';
import { computeUsageSample, parseDiskTransfer } from './rules/usage-sample.ts';

export interface SampleRequest {
  /** With the network of all pods. */
  readonly detail: boolean;
  /** The pods whose disks are read, too. */
  readonly uids: ReadonlySet<string>;
}

export interface CgroupRequest {
  readonly path: string;
  /** With all below it. */
  readonly isWhole: boolean;
}

export interface PageReads {
  sample(request: SampleRequest, signal: AbortSignal): Promise<UsageSample>;
  /** None: there is no such cgroup. */
  containers(request: CgroupRequest, signal: AbortSignal): Promise<readonly CadvisorContainer[]>;
  /** The same, in the form of version 2. */
  containersByName(request: CgroupRequest, signal: AbortSignal): Promise<Readonly<Record<string, object>>>;
}

export interface PageReadsDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly files: Pick<KernelFilesPort, 'read'>;
  readonly collector: Pick<Collector, 'read' | 'readOnce'>;
  readonly pods: () => readonly StatsPod[];
  readonly groups: () => NodeGroups;
  readonly hasPressure: () => boolean;
}

export function createPageReads(deps: PageReadsDeps): PageReads {
  const { collector } = deps;
  const containers: PageReads['containers'] = async (request, signal) => {
    const targets = planTargets(deps.groups(), deps.pods());
    return containerInfos(targets, await collector.read(targets, 'all', signal), request);
  };
  return {
    sample: (request, signal) => readSample(deps, request, signal),
    containers,
    containersByName: async (request, signal) => containersByName(await containers(request, signal)),
  };
}

async function readSample(
  { clock, files, collector, ...deps }: PageReadsDeps,
  { detail, uids }: SampleRequest,
  signal: AbortSignal,
): Promise<UsageSample> {
  const pods = deps.pods();
  const targets = planTargets(deps.groups(), pods);
  const isWhole = ({ path, pod }: Target) => path === '/' || (pod !== undefined && uids.has(pod.uid));
  const some = targets.filter((target) => !isWhole(target));
  const readings = new Map([
    ...(await (detail ? collector.read(some, 'rates', signal) : collector.readOnce(some, 'basic', signal))),
    ...(await collector.readOnce(targets.filter(isWhole), 'metrics', signal)),
  ]);
  const nodeDisk = parseDiskTransfer(files.read('/proc/diskstats'));
  return computeUsageSample({ time: clock.now(), pods, readings, nodeDisk, hasPressure: deps.hasPressure() });
}
