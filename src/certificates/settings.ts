/** What certificates take from the configuration of the whole kubelet. */
import type { Config } from '../config/config.ts';
import type { ClientCertificateConfig } from './client.ts';

/** Undefined: nothing is requested and nothing rotated. */
export function clientCertificateConfig(
  { settings, kubelet }: Config,
  nodeName: string,
): ClientCertificateConfig | undefined {
  const { kubeconfig, bootstrapKubeconfig } = settings.api;
  if (kubeconfig === '' || (bootstrapKubeconfig === '' && !kubelet.rotateCertificates)) return undefined;
  return {
    nodeName,
    directory: settings.directories.certificates,
    kubeconfig,
    bootstrapKubeconfig,
    rotates: kubelet.rotateCertificates,
  };
}

/** Undefined: the server has a certificate of its own. Files that somebody named go before what the cluster signs. */
export function servingCertificateConfig(
  { settings, kubelet }: Config,
  nodeName: string,
): { readonly nodeName: string; readonly directory: string } | undefined {
  const isWanted = kubelet.serverTLSBootstrap && settings.api.kubeconfig !== '' && kubelet.tlsCertFile === '';
  return isWanted ? { nodeName, directory: settings.directories.certificates } : undefined;
}
