/** The sub-protocol of a WebSocket in which a browser sends a bearer token, since it can't set an Authorization header. */
export const TOKEN_PROTOCOL = 'base64url.bearer.authorization.k8s.io.';

/** In any case: what only looks like it is no protocol that anyone speaks, but may be a token all the same. */
export const isTokenProtocol = (protocol: string): boolean => protocol.toLowerCase().startsWith(TOKEN_PROTOCOL);
