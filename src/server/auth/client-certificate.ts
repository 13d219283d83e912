/** The client of a TLS connection. OpenSSL has verified the chain in the handshake; the expiry is checked here with each request. */
import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { ClientCertificate } from './authenticate.ts';

/** The certificate of a connection is parsed once: a connection may carry thousands of requests. */
export function createClientCertificates(
  now: () => number,
  /** Called with each request with the remaining lifetime of its certificate, for metrics. */
  onVerified: (remainingMs: number) => void = () => undefined,
): (socket: TLSSocket) => ClientCertificate {
  const parsed = new WeakMap<
    TLSSocket,
    { readonly found: ClientCertificate; readonly from: number; readonly to: number }
  >();
  return (socket) => {
    const known = parsed.get(socket) ?? parse(socket);
    parsed.set(socket, known);
    if (known.found.kind !== 'verified') return known.found;
    // It was valid when the connection was opened, perhaps days ago.
    if (now() > known.to) return { kind: 'refused', reason: 'certificate has expired' };
    if (now() < known.from) return { kind: 'refused', reason: 'certificate is not yet valid' };
    onVerified(known.to - now());
    return known.found;
  };
}

function parse(socket: TLSSocket) {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return { found: { kind: 'none' } as const, from: 0, to: 0 };
  const { validFromDate: from, validToDate: to } = certificate;
  return { found: readClient(socket, certificate), from: from.getTime(), to: to.getTime() };
}

function readClient(socket: TLSSocket, certificate: X509Certificate): ClientCertificate {
  if (!socket.authorized) return { kind: 'refused', reason: String(socket.authorizationError ?? 'not verified') };
  const subject = readSubject(certificate);
  return { kind: 'verified', ...subject };
}

/** The last CN is the name, as in Go; each O is a group, and the object 1.3.6.1.4.1.57683.2 a UID. */
function readSubject(certificate: X509Certificate) {
  const { subject } = certificate.toLegacyObject() as { subject: Readonly<Record<string, string | readonly string[]>> };
  const all = (name: string) => [subject[name] ?? []].flat();
  const uid = all(UID_OBJECT).at(-1);
  return { commonName: all('CN').at(-1) ?? '', organizations: all('O'), ...(uid !== undefined && { uid }) };
}

const UID_OBJECT = '1.3.6.1.4.1.57683.2';
