/**
 * Whether another site made a browser send this request. A node without a cluster listens on loopback, where every page that its user opens
 * can send requests: under a name that the site resolves to loopback (DNS rebinding), or with the browser's client certificate.
 */
export interface BrowserHeaders {
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

export interface OwnNames {
  readonly nodeName: string;
  /** The local address of the connection. */
  readonly localAddress: string;
}

/** Why the request is refused; undefined: it is not. */
export function foreignRequest({ host = '', origin }: BrowserHeaders, names: OwnNames): string | undefined {
  if (isLoopback(names.localAddress) && !isOwnName(nameOf(host), names.nodeName))
    return `Host is not a name of this node: use an IP address, localhost or ${names.nodeName}`;
  if (origin !== undefined && origin.toLowerCase().replace(/^https?:\/\//, '') !== host.toLowerCase())
    return 'Origin is another site';
  return undefined;
}

const isLoopback = (address: string): boolean => address === '::1' || /^(::ffff:)?127\./.test(address);

/** Without the port. */
const nameOf = (host: string): string => host.toLowerCase().replace(/:\d{1,5}$/, '');

function isOwnName(name: string, nodeName: string): boolean {
  const isAddress = /^\d{1,3}(\.\d{1,3}){3}$/.test(name) || /^\[[0-9a-f:.]{2,45}\]$/.test(name);
  return isAddress || name === 'localhost' || name === nodeName.toLowerCase();
}
