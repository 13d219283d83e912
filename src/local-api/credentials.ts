/** By what people get in: tokens, the certificate of the port, and the kubeconfigs with both. The certificate is renewed in time, while the kubelet runs. */
import { join } from 'node:path';
import { createAlarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { type KubeconfigFiles, writeKubeconfigs } from './kubeconfig.ts';
import { createUsers, type ReviewToken } from './users.ts';

export interface CredentialsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** The certificate of the server for this address, PEM, with its authority at the end; a new one where the old one expires soon. */
  readonly certificate: (host: string) => Promise<string>;
  readonly ensureToken: (file: string) => Promise<string>;
}

export interface CredentialsConfig {
  readonly directory: string;
  readonly nodeName: string;
  readonly address: string;
  /** `https://127.0.0.1:10260`. */
  readonly server: string;
}

export interface Credentials {
  /** Writes what is missing or old, and then looks every day. */
  open(): Promise<KubeconfigFiles>;
  close(): void;
  review: ReviewToken;
}

const LOOK_EVERY_MS = 24 * 3_600_000;

export function createCredentials(deps: CredentialsDeps, config: CredentialsConfig): Credentials {
  const { clock, log } = deps;
  const { directory, nodeName, address, server } = config;
  let users: ReviewToken = () => undefined;
  const write = async (): Promise<KubeconfigFiles> => {
    const [full = '', readOnly = ''] = await Promise.all(
      ['administrator.token', 'reader.token'].map((name) => deps.ensureToken(join(directory, name))),
    );
    const tokens = { full, readOnly };
    users = createUsers(tokens);
    const authority = lastCertificate(await deps.certificate(address));
    return await writeKubeconfigs({ directory, nodeName, tokens, authority, server });
  };
  const alarm = createAlarm(clock, () => {
    alarm.ringAt(clock.now() + LOOK_EVERY_MS);
    write().catch((err: unknown) => log.error('Failed to renew the credentials of the local API, will retry', { err }));
  });
  return {
    open: async () => {
      const files = await write();
      alarm.ringAt(clock.now() + LOOK_EVERY_MS);
      return files;
    },
    close: () => alarm.clear(),
    review: (token) => users(token),
  };
}

const lastCertificate = (pem: string): string => pem.slice(pem.lastIndexOf('-----BEGIN CERTIFICATE-----'));
