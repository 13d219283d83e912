/** The socket on which device plugins register: `kubelet.sock` in the directory of device plugins. */
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { labelKeyFault } from '../api/names.ts';
import { isExtendedResource } from '../api/node.ts';
import type { Logger } from '../base/logger.ts';
import { Registration } from '../wire/gen/device-plugin-v1beta1.ts';
import { createGrpcServer, type GrpcServer, unaryHandler } from '../wire/grpc-server.ts';

export const DEVICE_PLUGIN_VERSION = 'v1beta1';

export interface RegistrationServerDeps {
  readonly log: Logger;
  readonly directory: string;
  readonly register: (resource: string, socket: string) => Promise<void>;
  readonly onRequest: (resource: string) => void;
}

const CHECKPOINT = 'kubelet_internal_checkpoint';
const SOCKET = 'kubelet.sock';

export const checkpointPath = (directory: string): string => join(directory, CHECKPOINT);

/** Why a plugin with this name can't be registered. */
export function nameFault(resource: string): string | undefined {
  const isValid = isExtendedResource(resource) && labelKeyFault(`requests.${resource}`) === undefined;
  return isValid ? undefined : `the ResourceName ${JSON.stringify(resource)} is invalid`;
}

export function createRegistrationServer({ log, directory, register, onRequest }: RegistrationServerDeps): GrpcServer {
  const answer = async (version: string, resource: string, endpoint: string): Promise<void> => {
    log.info('Got registration request from device plugin with resource', { resourceName: resource });
    onRequest(resource);
    const fault = version === DEVICE_PLUGIN_VERSION ? nameFault(resource) : unsupported(version);
    try {
      // An error without a code is what other kubelets answer with: gRPC's `Unknown`.
      if (fault !== undefined) throw new Error(fault);
      await register(resource, join(directory, endpoint));
    } catch (error) {
      log.error('Bad registration request from device plugin with resource', { resourceName: resource, err: error });
      throw error;
    }
  };
  return createGrpcServer([
    unaryHandler(Registration.register, async ({ version, resourceName, endpoint }) => {
      await answer(version, resourceName, endpoint);
      return {};
    }),
  ]);
}

const unsupported = (version: string): string =>
  `requested API version ${JSON.stringify(version)} is not supported by kubelet. Supported version is ["${DEVICE_PLUGIN_VERSION}"]`;

/** Plugins watch for the kubelet's socket, and begin anew when it is made: their old sockets are of no use to anyone. */
export async function listen(server: GrpcServer, directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    if ((await lstat(path)).isSocket()) await rm(path, { force: true });
  }
  await server.listen(join(directory, SOCKET));
}
