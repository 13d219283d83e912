/** Where and for whom the ports are open. */
export interface ServingInput {
  /** No API server to ask about clients. */
  readonly isStandalone: boolean;
  /** As the configuration decided it; undefined: no such port. */
  readonly secure: Endpoint | undefined;
  readonly readOnly: Endpoint | undefined;
  readonly anonymous: boolean;
  /** Whether a field was written by somebody, on the command line or in a file. */
  isTold(path: string): boolean;
}

interface Endpoint {
  readonly address: string;
  readonly port: number;
}

export interface Serving {
  readonly secure: Endpoint | undefined;
  readonly readOnly: Endpoint | undefined;
  readonly anonymous: boolean;
  /** A token of the node's own lets in. */
  readonly nodeToken: boolean;
}

/** On a node without a cluster, nobody gets in without a credential and from nowhere else, until somebody says otherwise. */
export function decideServing({ isStandalone, secure, readOnly, anonymous, isTold }: ServingInput): Serving {
  if (!isStandalone) return { secure, readOnly, anonymous, nodeToken: false };
  const near = <T extends Endpoint>(endpoint: T | undefined) =>
    endpoint &&
    (isTold('address') ? endpoint : { ...endpoint, address: endpoint.address.includes(':') ? '::1' : '127.0.0.1' });
  return {
    secure: near(secure),
    readOnly: near(readOnly),
    anonymous: anonymous && isTold('authentication.anonymous.enabled'),
    nodeToken: true,
  };
}
