/** The certificate by which the API server knows this node: a first one by bootstrap, and its rotation. */
import type { Part } from '../base/lifecycle.ts';
import type { Kube } from '../kube/kube.ts';
import { createLastingKey, type Environment, kubeconfigProblem, writeKubeconfig } from './bootstrap.ts';
import { type CertificateManager, createCertificateManager, type ManagerDeps } from './manager.ts';
import type { CertificatePair } from './pair.ts';
import { clientTemplate } from './rules/node-template.ts';
import { CLIENT_SIGNER, usagesOf } from './rules/signing-request.ts';
import { createCertificateStore } from './store.ts';

export interface ClientCertificate {
  /** To be started before access to the API server: finds out whether the node must join first. */
  readonly preparation: Part;
  /** To be started after it. */
  readonly manager: CertificateManager;
  /** The file with the certificate and key that replace those of the kubeconfig; undefined: the kubeconfig's own count. */
  path(): string | undefined;
  /** Whether there is no certificate yet, and one is being requested. */
  isAwaited(): boolean;
  /** The API server does not accept it: decides again, since a clock that was wrong may be right now. */
  refused(): void;
}

export interface ClientCertificateDeps
  extends Pick<ManagerDeps, 'clock' | 'log' | 'supervisor' | 'random' | 'onFailure'> {
  readonly environment: Environment;
  kube(): Kube;
  /** Access with the bootstrap kubeconfig. */
  createBootstrapKube(): Kube;
}

export interface ClientCertificateConfig {
  readonly nodeName: string;
  readonly directory: string;
  readonly kubeconfig: string;
  /** Empty: none. */
  readonly bootstrapKubeconfig: string;
  /** rotateCertificates */
  readonly rotates: boolean;
}

export function createClientCertificate(
  deps: ClientCertificateDeps,
  config: ClientCertificateConfig,
): ClientCertificate {
  const { clock, log, environment } = deps;
  const { kubeconfig, bootstrapKubeconfig, directory } = config;
  const store = createCertificateStore({ clock, log }, directory, 'kubelet-client');
  const bootstrap = createBootstrapAccess(deps);
  const lastingKey = createLastingKey(directory);
  let joins = false;
  const isGood = (pair: CertificatePair | undefined) => pair !== undefined && clock.now() < pair.facts.notAfter;
  const prepare = async () => {
    if (bootstrapKubeconfig === '') return;
    const problem = await kubeconfigProblem(kubeconfig, environment, clock.now());
    if (problem === undefined) {
      log.v(2)?.info('Kubeconfig exists and is valid, skipping bootstrap', { path: kubeconfig });
      return;
    }
    log.info('Using bootstrap kubeconfig to generate TLS client cert, key and kubeconfig file', {
      path: kubeconfig,
      reason: problem,
    });
    await writeKubeconfig({ kubeconfig, bootstrapKubeconfig, pair: store.currentPath }, environment);
    joins = true;
  };
  const manager = createCertificateManager(
    {
      ...deps,
      store,
      template: () => clientTemplate(config.nodeName),
      api: async (current, signal) => {
        if (isGood(current)) return deps.kube();
        if (!joins) await prepare(); // it may have expired while the control plane was away
        return joins ? await bootstrap.open(signal) : deps.kube();
      },
      lastingKey: () => (joins && !isGood(manager.current()) ? lastingKey : undefined),
      onChange: async () => {
        joins = false;
        await deps.kube().refreshCredentials('the client certificate was renewed');
        await bootstrap.close();
      },
    },
    { name: 'client certificate', signerName: CLIENT_SIGNER, usages: usagesOf('client auth'), rotates: config.rotates },
  );
  return {
    preparation: {
      name: 'TLS bootstrap',
      start: async () => {
        await prepare();
        await manager.load();
      },
    },
    manager: {
      ...manager,
      stop: async () => {
        await manager.stop?.();
        await bootstrap.close();
      },
    },
    path: () => (isGood(manager.current()) && config.rotates ? store.currentPath : undefined),
    isAwaited: () => joins && !isGood(manager.current()),
    refused: manager.look,
  };
}

/** Opened when it is first needed, closed when the node has a certificate of its own. */
function createBootstrapAccess({ createBootstrapKube }: ClientCertificateDeps) {
  let opened: Kube | undefined;
  return {
    open: async (signal: AbortSignal): Promise<Kube> => {
      if (opened !== undefined) return opened;
      const kube = createBootstrapKube();
      await kube.start(signal);
      opened = kube;
      return kube;
    },
    close: async () => {
      const kube = opened;
      opened = undefined;
      await kube?.stop?.();
    },
  };
}
