/** Certificates from the cluster: the client certificate of the node and the certificate of its server. */
import { type ClientCertificate, createClientCertificate } from '../certificates/client.ts';
import { createServingCertificate, type ServingCertificate } from '../certificates/serving.ts';
import { clientCertificateConfig, servingCertificateConfig } from '../certificates/settings.ts';
import type { Config } from '../config/config.ts';
import type { Kube } from '../kube/kube.ts';
import type { RecordNodeEvent } from '../model/event.ts';
import type { Cluster } from './cluster.ts';
import type { PartDeps } from './compose.ts';
import type { Meters } from './metrics.ts';

export interface ClientCertificateTools {
  readonly meters: Pick<Meters, 'certificates'>;
  readonly kube: () => Kube;
  readonly createBootstrapKube: () => Kube;
}

/** Undefined: the kubeconfig's credentials are all there is. */
export function composeClientCertificate(
  config: Config,
  deps: PartDeps,
  tools: ClientCertificateTools,
): ClientCertificate | undefined {
  const settings = clientCertificateConfig(config, deps.nodeName);
  if (settings === undefined) return undefined;
  const { clock, log, supervisor, surroundings } = deps;
  const meter = tools.meters.certificates.client(() => certificate.manager.current()?.facts.notAfter);
  const certificate = createClientCertificate(
    {
      clock,
      log: log.named('certificates'),
      supervisor,
      random: Math.random,
      environment: surroundings?.environment ?? {},
      kube: tools.kube,
      createBootstrapKube: tools.createBootstrapKube,
      onFailure: meter.failed,
    },
    settings,
  );
  return certificate;
}

export interface ServingCertificateTools {
  readonly meters: Pick<Meters, 'certificates'>;
  /** Undefined: standalone. */
  readonly kube: Kube | undefined;
  readonly cluster: Pick<Cluster, 'node'> | undefined;
  readonly record: RecordNodeEvent;
}

/** Undefined: the server's certificate comes from files, or is self-signed. */
export function composeServingCertificate(
  config: Config,
  deps: PartDeps,
  tools: ServingCertificateTools,
): ServingCertificate | undefined {
  const settings = servingCertificateConfig(config, deps.nodeName);
  const { kube, cluster } = tools;
  if (settings === undefined || kube === undefined || cluster === undefined) return undefined;
  const { node } = cluster;
  const { clock, log, supervisor } = deps;
  const meter = tools.meters.certificates.serving(() => certificate.manager.current()?.facts.notAfter);
  const certificate = createServingCertificate(
    {
      clock,
      log: log.named('certificates'),
      supervisor,
      random: Math.random,
      kube: () => kube,
      addresses: () => node.object()?.status?.addresses ?? [],
      onFailure: meter.failed,
      onRotated: meter.rotated,
      record: tools.record,
      onCondition: node.requestUpdate,
    },
    settings,
  );
  node.subscribe('serving certificate', certificate.manager.look);
  return certificate;
}
