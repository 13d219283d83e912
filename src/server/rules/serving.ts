/** Where and for whom the ports are open. */
export interface ServingInput {
  /** No API server to ask about clients. */
  readonly isStandalone: boolean;
  /** As the configuration decided it; undefined: no such port. */
  readonly secure: Endpoint | undefined;
  readonly readOnly: Endpoint | undefined;
  readonly anonymous: boolean;
  /** Whether the address was given explicitly. */
  readonly isAddressGiven: boolean;
  /** Whether anonymous access was switched on explicitly. */
  readonly isAnonymousGiven: boolean;
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

/** On a node without a cluster, no one gets in without a credential and from nowhere else, until somebody says otherwise. */
export function decideServing(input: ServingInput): Serving {
  const { isStandalone, secure, readOnly, anonymous, isAddressGiven, isAnonymousGiven } = input;
  if (!isStandalone) return { secure, readOnly, anonymous, nodeToken: false };
  const near = <T extends Endpoint>(endpoint: T | undefined) =>
    endpoint &&
    (isAddressGiven ? endpoint : { ...endpoint, address: endpoint.address.includes(':') ? '::1' : '127.0.0.1' });
  return {
    secure: near(secure),
    readOnly: near(readOnly),
    anonymous: anonymous && isAnonymousGiven,
    nodeToken: true,
  };
}
