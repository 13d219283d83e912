/** Access to the API server, and the certificate that opens it. */
import type { ClientCertificate } from '../certificates/client.ts';
import type { Config } from '../config/config.ts';
import { createKube, type Kube, type KubeDeps } from '../kube/kube.ts';
import { bootstrapKubeConfig, kubeConfig } from '../kube/settings.ts';
import { composeClientCertificate } from './certificates.ts';
import type { PartDeps } from './compose.ts';
import type { Meters } from './metrics.ts';

export interface KubeParts {
  readonly kube: Kube;
  /** Undefined: the kubeconfig's credentials are all there is. */
  readonly certificate: ClientCertificate | undefined;
}

/** Undefined: standalone. */
export function composeKube(config: Config, deps: PartDeps, meters: Meters): KubeParts | undefined {
  const { kubeconfig, bootstrapKubeconfig: path } = config.settings.api;
  const { clock, supervisor, surroundings, machine } = deps;
  const log = deps.log.named('kube');
  if (kubeconfig === '') {
    if (path !== '') log.warn('Standalone: --bootstrap-kubeconfig is not used without --kubeconfig', { path });
    return undefined;
  }
  const environment = surroundings?.environment ?? {};
  const shared: KubeDeps = {
    clock,
    log,
    supervisor,
    random: Math.random,
    environment,
    onRequest: meters.onApiRequest,
  };
  const certificate = composeClientCertificate(config, deps, {
    meters,
    kube: () => kube,
    createBootstrapKube: () => createKube(shared, bootstrapKubeConfig(config, machine.architecture)),
  });
  const kube = createKube({ ...shared, clientCertificate: certificate }, kubeConfig(config, machine.architecture));
  return { kube, certificate };
}
