/** Which certificate a server inside a world shows, and the wait until it shows another one. */
import type { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { Gate } from '../../../tools/machine/gate.ts';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

const MS_BETWEEN_LOOKS = 100;
/** The API server notices a changed file by itself at once, and looks again every minute. */
const RELOAD_DEADLINE_MS = 180_000;

export async function readServedCertificate(gate: Gate, endpoint: Endpoint): Promise<X509Certificate> {
  const socket = connectTls({
    socket: await gate.connect(endpoint.address, endpoint.port),
    rejectUnauthorized: false, // looked at, not trusted
  });
  try {
    await once(socket, 'secureConnect');
    const certificate = socket.getPeerX509Certificate();
    if (certificate === undefined) throw new Error(`${endpoint.address}:${endpoint.port} shows no certificate`);
    return certificate;
  } finally {
    socket.destroy();
  }
}

export async function waitUntilServed(gate: Gate, endpoint: Endpoint, wanted: X509Certificate): Promise<void> {
  const deadline = performance.now() + RELOAD_DEADLINE_MS;
  for (;;) {
    const served = await readServedCertificate(gate, endpoint);
    if (served.fingerprint256 === wanted.fingerprint256) return;
    if (performance.now() > deadline) {
      throw new Error(`${endpoint.address}:${endpoint.port} still shows certificate ${served.serialNumber}`);
    }
    await delay(MS_BETWEEN_LOOKS);
  }
}
