/** Makes all that must exist before the sandbox: claims, directories, cgroup, volumes. What does not need each other is made side by side. */
import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { resourceClaimNames } from '../api/pod-traits.ts';
import { describeError } from '../base/errors.ts';
import type { MountedVolumes } from '../model/mounted-volume.ts';
import type { ReportStep, StepFailure, StepSubject } from '../model/step.ts';
import { claimsProblem } from './claims.ts';
import type { PodDirectories } from './pod-directories.ts';
import type { CgroupsPort, VolumesPort } from './ports.ts';

export interface PodPrepareDeps {
  readonly directories: Pick<PodDirectories, 'ensure'>;
  readonly cgroups: Pick<CgroupsPort, 'ensure'>;
  readonly volumes: Pick<VolumesPort, 'prefetch' | 'ensure'>;
}

export interface PodPrepare {
  readonly pod: Pod;
  readonly report: ReportStep;
  /** Aborts when the pod must end. */
  readonly wanted: AbortSignal;
}

export type Prepared =
  | { readonly kind: 'ready'; readonly volumes: MountedVolumes }
  | { readonly kind: 'blocked'; readonly subject: StepSubject; readonly message: string };

type Blocked = Extract<Prepared, { kind: 'blocked' }>;

export async function preparePod(deps: PodPrepareDeps, prepare: PodPrepare): Promise<Prepared> {
  const { pod, wanted } = prepare;
  const claims = claimsProblem(pod);
  if (claims !== undefined) {
    const subject = { kind: 'resource-claims', names: resourceClaimNames(pod) } as const;
    return blocked(prepare, subject, { reason: 'FailedPrepareDynamicResources', message: claims });
  }
  deps.volumes.prefetch(pod, wanted);
  const [directories, cgroup] = await Promise.all([
    attempt(prepare, { kind: 'directories' }, () => deps.directories.ensure(pod.metadata.uid as PodUid), {
      reason: 'FailedToMakePodDataDirectories',
      problem: 'error making pod data directories',
    }),
    attempt(prepare, { kind: 'cgroup' }, () => deps.cgroups.ensure(pod), {
      reason: 'FailedToCreatePodContainer',
      problem: 'unable to ensure pod container exists',
    }),
  ]);
  return directories ?? cgroup ?? (await mountVolumes(deps, prepare));
}

async function attempt(
  prepare: PodPrepare,
  subject: StepSubject,
  call: () => Promise<void>,
  { reason, problem }: { readonly reason: string; readonly problem: string },
): Promise<Blocked | undefined> {
  prepare.report({ kind: 'begun', subject });
  try {
    await call();
  } catch (error) {
    return blocked(prepare, subject, { reason, message: `${problem}: ${describeError(error)}` });
  }
  prepare.report({ kind: 'done', subject });
  return undefined;
}

async function mountVolumes({ volumes }: PodPrepareDeps, prepare: PodPrepare): Promise<Prepared> {
  const { pod, wanted } = prepare;
  const names = (pod.spec.volumes ?? []).map(({ name }) => name);
  const subject = { kind: 'volumes', names } as const;
  const report: ReportStep = names.length === 0 ? () => undefined : prepare.report;
  report({ kind: 'begun', subject });
  const outcome = await volumes.ensure(pod, wanted);
  if (outcome.kind === 'waiting') {
    return blocked(prepare, subject, { reason: outcome.reason, message: outcome.message });
  }
  report({ kind: 'done', subject });
  return { kind: 'ready', volumes: outcome.mounts };
}

function blocked({ report }: PodPrepare, subject: StepSubject, failure: StepFailure): Blocked {
  report({ kind: 'failed', subject, failure });
  return { kind: 'blocked', subject, message: failure.message };
}
