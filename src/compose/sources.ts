/** The sources of pods, and which parts get the desired pods. */

import type { Part } from '../base/lifecycle.ts';
import type { Config } from '../config/config.ts';
import type { RecordEvent } from '../model/event.ts';
import type { Objects } from '../objects/objects.ts';
import type { Pods } from '../pods/pods.ts';
import { sourcesConfig } from '../sources/settings.ts';
import { createSources } from '../sources/sources.ts';
import type { Cluster } from './cluster.ts';
import type { PartDeps } from './compose.ts';

export interface SourceTools {
  readonly record: RecordEvent;
  readonly pods: Pods;
  /** Undefined for a kubelet without an API server. */
  readonly objects: Objects | undefined;
  readonly cluster: Cluster | undefined;
  readonly isLocal: boolean;
}

export function composeSources(config: Config, deps: PartDeps, tools: SourceTools): Part {
  const { clock, log, supervisor, nodeName, host } = deps;
  const { record, pods, objects, cluster } = tools;
  return createSources(sourcesConfig(config, { nodeName, isLocal: tools.isLocal }), {
    clock,
    log,
    supervisor,
    inotify: host.files.inotify,
    record,
    apiServer: cluster?.apiServer,
    onDesired: (desired, everySourceHeard, heard) => {
      supervisor.guard('objects', {}, () => objects?.setPods(desired));
      supervisor.guard('cluster', {}, () => cluster?.desire(desired, everySourceHeard));
      pods.setDesired(desired, everySourceHeard, heard);
    },
  });
}
