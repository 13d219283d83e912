/** Objects in the form that credentials for images need. */
import { CodedError, describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { CredentialObjects } from '../images/ports.ts';
import { secretData } from './for-requests.ts';
import type { Objects } from './objects.ts';

/** The API server's default, which the reference uses here, too. */
const PROVIDER_TOKEN_SECONDS = 3600;

export function objectsForImages(
  objects: Pick<Objects, 'secret' | 'serviceAccount' | 'token'>,
  log: Logger,
): CredentialObjects {
  return {
    secret: async (namespace, name, signal) => {
      try {
        const found = await objects.secret(namespace, name, signal);
        if (found.kind === 'missing') return undefined;
        const { metadata, type = '' } = found.object;
        return { uid: metadata.uid, namespace, name, type, data: secretData(found.object) };
      } catch (error) {
        signal.throwIfAborted();
        log.info('Unable to retrieve pull secret, the image pull may not succeed.', {
          secret: `${namespace}/${name}`,
          err: describeError(error),
        });
        return undefined;
      }
    },
    serviceAccount: async (namespace, name, signal) => {
      const found = await objects.serviceAccount(namespace, name, signal);
      if (found.kind === 'missing') throw new CodedError('notFound', found.message);
      const { uid, annotations = {} } = found.object.metadata;
      return { uid, annotations };
    },
    token: async ({ pod, serviceAccount, audience }, signal) => {
      const { token } = await objects.token(
        {
          pod,
          serviceAccountName: serviceAccount.name,
          serviceAccountUid: serviceAccount.uid,
          audiences: [audience],
          expirationSeconds: PROVIDER_TOKEN_SECONDS,
        },
        signal,
      );
      return token;
    },
  };
}
