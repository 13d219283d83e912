/** Addresses in a kubeconfig: of the API server and of a proxy in front of it. */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';

export interface Endpoint {
  readonly secure: boolean;
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
  /** Prefix of every path: empty, or `/k8s/clusters/one`. */
  readonly basePath: string;
  /** `https://192.0.2.1:6443`, for messages. */
  readonly text: string;
}

export interface ProxyServer {
  readonly kind: 'http' | 'https' | 'socks5';
  readonly host: string;
  readonly port: number;
  readonly login: { readonly user: string; readonly password: string } | undefined;
}

const PROXY_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443, socks5: 1080 };

/** A server without a scheme means https if any TLS field is set, as in the reference. */
export function parseServer(text: string, hasTls: boolean): Parsed<Endpoint> {
  const full = text.includes('://') ? text : `${hasTls ? 'https' : 'http'}://${text}`;
  const url = URL.parse(full);
  if (url === null) return unparsable(`${JSON.stringify(text)} is no URL such as https://192.0.2.1:6443`);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return unparsable(`the scheme must be https or http; found ${JSON.stringify(url.protocol.slice(0, -1))}`);
  }
  if (url.username !== '' || url.password !== '') return unparsable('must hold no user: there are fields for that');
  if (url.search !== '' || url.hash !== '') return unparsable('must hold no query and no fragment');
  const secure = url.protocol === 'https:';
  const basePath = url.pathname.replace(/\/+$/, '');
  const port = Number(url.port === '' ? (secure ? 443 : 80) : url.port);
  return parsed({
    secure,
    host: bareHost(url),
    port,
    basePath,
    text: `${url.protocol}//${url.host}${basePath}`,
  });
}

export function parseProxy(text: string): Parsed<ProxyServer> {
  const url = URL.parse(text);
  if (url === null) return unparsable(`${JSON.stringify(text)} is no URL such as http://192.0.2.1:3128`);
  const scheme = url.protocol.slice(0, -1);
  // With both, the proxy resolves names: only curl distinguishes them.
  const kind = scheme === 'socks5h' ? 'socks5' : scheme;
  if (kind !== 'http' && kind !== 'https' && kind !== 'socks5') {
    return unparsable(`the scheme must be http, https or socks5; found ${JSON.stringify(scheme)}`);
  }
  if (url.hostname === '') return unparsable(`${JSON.stringify(text)} names no host`);
  const login = { user: unescapeText(url.username), password: unescapeText(url.password) };
  if (login.user === undefined || login.password === undefined)
    return unparsable('user or password hold a bad % escape');
  const port = url.port === '' ? (PROXY_PORTS[kind] ?? 0) : Number(url.port);
  return parsed({
    kind,
    host: bareHost(url),
    port,
    login: login.user === '' ? undefined : { user: login.user, password: login.password },
  });
}

function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function unescapeText(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
