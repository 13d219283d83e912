/** On which addresses the ports listen, and how callers authenticate. */
export interface ServingInput {
  /** There is no API server for reviews. */
  readonly isStandalone: boolean;
  /** From the configuration; undefined: no such port. */
  readonly secure: Endpoint | undefined;
  readonly readOnly: Endpoint | undefined;
  readonly anonymous: boolean;
  /** Whether the address was given explicitly. */
  readonly isAddressGiven: boolean;
  /** Whether anonymous access was enabled explicitly. */
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
  /** The node has its own token. */
  readonly nodeToken: boolean;
}

/** A node without a cluster listens on loopback only and requires a credential, unless the configuration says otherwise explicitly. */
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
