/** Probes and hooks. */
import type { PodUid } from '../api/ids.ts';
import { KUBERNETES_VERSION } from '../config/version.ts';
import type { RecordEvent } from '../model/event.ts';
import { createHooks, createProbes, type ProbesDeps } from '../probes/probes.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import { expandWithLiterals } from '../runtime/spec/environment.ts';
import type { PartDeps } from './compose.ts';

export interface ProbeTools {
  readonly cri: CriClient;
  readonly record: RecordEvent;
  readonly wake: (uid: PodUid) => void;
  readonly podDirectory: (uid: PodUid) => string;
  readonly nodeIps: () => readonly string[];
  readonly metrics?: ProbesDeps['metrics'];
  readonly onHookFallback?: (() => void) | undefined;
}

export function composeProbes({ clock, log, supervisor, host }: PartDeps, tools: ProbeTools) {
  const { cri, record, wake, podDirectory, nodeIps, metrics, onHookFallback } = tools;
  const { execSync } = cri.streams;
  const versions = { kubernetesVersion: KUBERNETES_VERSION };
  const probes = createProbes(
    {
      clock,
      log: log.named('probes'),
      supervisor,
      record,
      wake,
      execSync,
      expand: expandWithLiterals,
      nodeIps,
      podDirectory,
      processes: host.processes,
      metrics,
    },
    versions,
  );
  const hooks = createHooks({ clock, execSync, nodeIps, record, onHttpFallback: onHookFallback }, versions);
  return { probes, hooks };
}
