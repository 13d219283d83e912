import type { Container, ContainerPort } from '../../api/container.ts';
import { parseIpAddress } from '../../api/ip-address.ts';
import { type PortMapping, Protocol } from '../../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../../wire/message.ts';

/** Ports of regular containers, also those without a host port; one that is declared twice in a container counts once. */
export function portMappings(containers: readonly Container[]): readonly Init<PortMapping>[] {
  return containers.flatMap((container) => {
    const seen = new Set<string>();
    return (container.ports ?? []).flatMap((port) => {
      const name = port.name || portKey(port);
      if (seen.has(name)) return [];
      seen.add(name);
      const { containerPort, hostPort = 0, hostIP = '', protocol } = port;
      return [{ protocol: Protocol[protocol ?? 'TCP'], containerPort, hostPort, hostIp: hostIP }];
    });
  });
}

/** The same port may be published once for each address family. */
function portKey({ containerPort, hostPort = 0, hostIP = '', protocol = 'TCP' }: ContainerPort): string {
  const family = hostIP === '' ? 'any' : parseIpAddress(hostIP)?.family === 6 ? 'v6' : 'v4';
  return `${family}-${protocol}-${hostIP}:${containerPort}:${hostPort}`;
}
