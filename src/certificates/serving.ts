/** The certificate that the kubelet's server shows, signed by the cluster (`serverTLSBootstrap`). */

import type { Kube } from '../kube/kube.ts';
import type { RecordNodeEvent } from '../model/event.ts';
import { type CertificateManager, createCertificateManager, type ManagerDeps } from './manager.ts';
import type { NodeAddress } from './rules/node-template.ts';
import { servingTemplate } from './rules/node-template.ts';
import { progressCondition, progressEvent } from './rules/progress.ts';
import { SERVING_SIGNER, usagesOf } from './rules/signing-request.ts';
import { createCertificateStore } from './store.ts';

export interface ServingCertificateDeps
  extends Pick<ManagerDeps, 'clock' | 'log' | 'supervisor' | 'random' | 'onFailure'> {
  kube(): Kube;
  addresses(): readonly NodeAddress[];
  /** How long the certificate before was used, ms; undefined for the first. */
  onRotated(lived: number | undefined): void;
  record: RecordNodeEvent;
  /** The condition of the node has changed. */
  onCondition(): void;
}

export interface ServingCertificate {
  readonly manager: CertificateManager;
  /** The file that the server reads; it may not be there yet. */
  readonly path: string;
  /** The condition of the node that shows how far the certificate is. */
  conditions(): readonly NodeCondition[];
}

export type NodeCondition = { readonly type: string } & ReturnType<typeof progressCondition>;

export function createServingCertificate(
  deps: ServingCertificateDeps,
  config: { readonly nodeName: string; readonly directory: string },
): ServingCertificate {
  const { clock, log } = deps;
  const store = createCertificateStore({ clock, log }, config.directory, 'kubelet-server');
  const manager = createCertificateManager(
    {
      ...deps,
      store,
      template: () => servingTemplate(config.nodeName, deps.addresses()),
      api: () => Promise.resolve(deps.kube()),
      lastingKey: () => undefined,
      onProgress: (before, now) => {
        const event = progressEvent(before, now);
        if (event !== undefined) deps.record({ ...event, node: true });
        deps.onCondition();
      },
      // The server watches the file.
      onChange: (_, lived) => Promise.resolve(deps.onRotated(lived)),
    },
    { name: 'serving certificate', signerName: SERVING_SIGNER, usages: usagesOf('server auth'), rotates: true },
  );
  return {
    manager,
    path: store.currentPath,
    conditions: () => [{ type: 'ServingCertificateReady', ...progressCondition(manager.progress(), clock.now()) }],
  };
}
