/** Reports of processes that the kernel killed because memory was short. */
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { RecordEvent } from '../model/event.ts';
import type { PodUpdate } from '../model/pod-view.ts';
import { createOomWatcher, type OomWatcher } from '../oom/oom.ts';
import { cgroupOfProcess, killCounter, oomPod } from '../oom/sources.ts';
import type { Pods } from '../pods/pods.ts';
import type { Resources } from '../resources/resources.ts';
import type { PartDeps } from './compose.ts';

export interface OomTools {
  readonly pods: Pods;
  readonly resources: Resources;
  readonly record: RecordEvent;
}

export function composeOom(config: Config, deps: PartDeps, { pods, resources, record }: OomTools): OomWatcher {
  const { clock, log, supervisor, host, machine } = deps;
  const { read } = host.cgroups.files((path, error) =>
    log.v(2)?.info('Failed to read a file of the kernel', { path, err: error }),
  );
  const watcher = createOomWatcher(
    {
      clock,
      log,
      supervisor,
      record,
      followKernelLog: host.kernel.followLog,
      pods: () => pods.views().flatMap((view) => oomPod(view, resources)),
      groups: resources.groupCgroups,
      killCount: killCounter(host.cgroups.hierarchies(), read),
      cgroupOf: (pid) => cgroupOfProcess(pid, read),
    },
    {
      statePath: join(config.settings.directories.root, 'oom_watcher_state'),
      bootId: machine.bootId,
    },
  );
  pods.subscribe('oom watcher', (update: PodUpdate) => {
    if (update.kind === 'gone') watcher.podGone(update.uid);
    else for (const pod of oomPod(update.view, resources)) watcher.podChanged(pod);
  });
  return watcher;
}
