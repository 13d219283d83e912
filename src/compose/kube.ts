/** Access to the API server. */
import type { Config } from '../config/config.ts';
import { architecture } from '../host/identity.ts';
import { createKube, type Kube, type KubeDeps } from '../kube/kube.ts';
import { kubeConfig } from '../kube/settings.ts';
import type { PartDeps } from './compose.ts';

/** Undefined: standalone. */
export function composeKube(
  config: Config,
  deps: Pick<PartDeps, 'clock' | 'log' | 'supervisor' | 'surroundings'>,
  onRequest: KubeDeps['onRequest'] = () => undefined,
): Kube | undefined {
  const { kubeconfig, bootstrapKubeconfig: path } = config.settings.api;
  const { clock, supervisor, surroundings } = deps;
  const log = deps.log.named('kube');
  if (kubeconfig === '') {
    if (path !== '') log.warn('Standalone: --bootstrap-kubeconfig is not used without --kubeconfig', { path });
    return undefined;
  }
  const environment = surroundings?.environment ?? {};
  return createKube(
    { clock, log, supervisor, random: Math.random, environment, onRequest },
    kubeConfig(config, architecture()),
  );
}
