/** Opens TCP connections. Errors have the texts that users know from the reference's events. */
import type { Socket } from 'node:net';
import { getSystemErrorMessage } from 'node:util';
import { CodedError } from '../../base/errors.ts';
import { connectTcp } from '../../wire/open-socket.ts';
import { joinHostPort } from '../rules/target.ts';

/** Rejects with the signal's reason, or with an `unavailable` error that names the address. */
export async function dial(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  try {
    return await connectTcp({ host, port }, signal);
  } catch (cause) {
    signal.throwIfAborted();
    throw new CodedError('unavailable', dialProblem(host, port, cause), { cause });
  }
}

export function dialProblem(host: string, port: number, error: unknown): string {
  // A name with several addresses: what was wrong with the first stands for all.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (isSystemError(first) && first.syscall === 'getaddrinfo') {
    const why = first.code === 'ENOTFOUND' ? 'no such host' : first.code;
    return `dial tcp: lookup ${host}: ${why}`;
  }
  return `dial tcp ${joinHostPort(host, port)}: connect: ${systemErrorText(first)}`;
}

/** Where the texts of the C library and of Node differ, the C library's. */
const TEXTS: Readonly<Record<string, string>> = {
  EHOSTUNREACH: 'no route to host',
  ETIMEDOUT: 'connection timed out',
  EADDRNOTAVAIL: 'cannot assign requested address',
};

export function systemErrorText(error: unknown): string {
  if (!isSystemError(error)) return error instanceof Error ? error.message : String(error);
  return TEXTS[error.code] ?? (error.errno === undefined ? error.message : getSystemErrorMessage(error.errno));
}

interface SystemError extends Error {
  readonly code: string;
  readonly errno?: number;
  readonly syscall?: string;
}

export function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}

/** Both ends of an open connection, as errors name them. */
export function endsOf({ localAddress = '', localPort = 0, remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${joinHostPort(localAddress, localPort)}->${joinHostPort(remoteAddress, remotePort)}`;
}

/** How a connection that was open broke. */
export function readProblem(ends: string, error: unknown): string {
  if (isSystemError(error) && error.code === 'ECONNRESET' && error.syscall !== undefined) {
    return `read tcp ${ends}: read: connection reset by peer`;
  }
  return systemErrorText(error);
}
