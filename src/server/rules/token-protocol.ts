/** The sub-protocol of a WebSocket in which a browser sends a bearer token, since it can't set an Authorization header. */
export const TOKEN_PROTOCOL = 'base64url.bearer.authorization.k8s.io.';

/** Case-insensitive: a value that only resembles it is no other protocol, but may contain a token. */
export const isTokenProtocol = (protocol: string): boolean => protocol.toLowerCase().startsWith(TOKEN_PROTOCOL);
