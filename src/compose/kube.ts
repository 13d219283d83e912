/** The part of the composition root that gives access to the API server. */
import { arch, platform } from 'node:os';
import type { Config } from '../config/config.ts';
import { KUBERNETES_VERSION } from '../config/version.ts';
import { createKube, type Kube, type KubeDeps } from '../kube/kube.ts';
import type { PartDeps } from './compose.ts';

/** What 0 means for the limits, as in the reference. */
const DEFAULT_QPS = 5;
const DEFAULT_BURST = 10;
/** Go's names, as every tool knows them. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** Undefined: standalone. `contentType` is accepted, and JSON is spoken whatever it says. */
export function composeKube(
  { settings, kubelet }: Config,
  deps: Pick<PartDeps, 'clock' | 'log' | 'supervisor' | 'surroundings'>,
  onRequest: KubeDeps['onRequest'] = () => undefined,
): Kube | undefined {
  const { kubeconfig, bootstrapKubeconfig } = settings.api;
  const log = deps.log.named('kube');
  if (kubeconfig === '') {
    if (bootstrapKubeconfig !== '') {
      log.warn('Standalone: --bootstrap-kubeconfig is not used without --kubeconfig', { path: bootstrapKubeconfig });
    }
    return undefined;
  }
  return createKube(
    {
      clock: deps.clock,
      log,
      supervisor: deps.supervisor,
      random: Math.random,
      environment: deps.surroundings?.environment ?? {},
      onRequest,
    },
    {
      kubeconfig,
      bootstrapKubeconfig,
      limit: { perSecond: kubelet.kubeAPIQPS || DEFAULT_QPS, burst: kubelet.kubeAPIBurst || DEFAULT_BURST },
      heartbeatTimeoutMs: Math.min(kubelet.nodeStatusUpdateFrequency, kubelet.nodeLeaseDurationSeconds * 1000),
      userAgent: `kubelet/${KUBERNETES_VERSION} (${platform()}/${ARCHITECTURES[arch()] ?? arch()})`,
    },
  );
}
