/** The environment variables with the addresses of the services of a namespace. */

import type { ServiceView } from '../../model/service.ts';
export interface ServiceEnvInput {
  readonly services: readonly ServiceView[];
  readonly namespace: string;
  /** The pod's `enableServiceLinks`. */
  readonly links: boolean;
  /** Of the API server's own service, `kubernetes`. */
  readonly masterNamespace: string;
}

/** Sorted by service name. The API server's own service is always there: in-cluster clients find the API by it. */
export function serviceEnvironment(input: ServiceEnvInput): ReadonlyMap<string, string> {
  const { services, namespace, links, masterNamespace } = input;
  const chosen = new Map<string, ServiceView>();
  for (const service of services) {
    if (service.clusterIp === '' || service.clusterIp === 'None' || service.ports.length === 0) continue;
    if (service.namespace === masterNamespace && service.name === 'kubernetes') {
      if (!chosen.has(service.name)) chosen.set(service.name, service);
    } else if (service.namespace === namespace && links) {
      chosen.set(service.name, service);
    }
  }
  const sorted = [...chosen.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return new Map(sorted.flatMap(variablesOf));
}

type Variable = readonly [name: string, value: string];

function variablesOf(service: ServiceView): readonly Variable[] {
  const prefix = variableName(service.name);
  const [first] = service.ports;
  const variables: Variable[] = [
    [`${prefix}_SERVICE_HOST`, service.clusterIp],
    [`${prefix}_SERVICE_PORT`, String(first?.port)],
  ];
  for (const { name, port } of service.ports) {
    if (name) variables.push([`${prefix}_SERVICE_PORT_${variableName(name)}`, String(port)]);
  }
  return [...variables, ...linkVariables(service, prefix)];
}

/** The form that container links once had; programs still read it. */
function linkVariables(service: ServiceView, prefix: string): readonly Variable[] {
  const host = service.clusterIp.includes(':') ? `[${service.clusterIp}]` : service.clusterIp;
  return service.ports.flatMap(({ port, protocol = 'TCP' }, index): readonly Variable[] => {
    const scheme = protocol.toLowerCase();
    const address = `${scheme}://${host}:${port}`;
    const portPrefix = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
    const own: readonly Variable[] = [
      [portPrefix, address],
      [`${portPrefix}_PROTO`, scheme],
      [`${portPrefix}_PORT`, String(port)],
      [`${portPrefix}_ADDR`, service.clusterIp],
    ];
    return index === 0 ? [[`${prefix}_PORT`, address], ...own] : own;
  });
}

function variableName(name: string): string {
  return name.replaceAll('-', '_').toUpperCase();
}
