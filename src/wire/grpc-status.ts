/** gRPC's status codes, their names as Go programs print them, and what they mean in our dozen codes. */
import { CodedError, codeOf, type ErrorCode } from '../base/errors.ts';

interface Status {
  readonly name: string;
  readonly code: ErrorCode;
}

// The index is the number on the wire.
const STATUSES: readonly Status[] = [
  { name: 'OK', code: 'internal' },
  // We report our own cancellations as what caused them; a peer that cancels is on its way out.
  { name: 'Canceled', code: 'unavailable' },
  { name: 'Unknown', code: 'internal' },
  { name: 'InvalidArgument', code: 'invalid' },
  { name: 'DeadlineExceeded', code: 'deadline' },
  { name: 'NotFound', code: 'notFound' },
  { name: 'AlreadyExists', code: 'exists' },
  { name: 'PermissionDenied', code: 'denied' },
  { name: 'ResourceExhausted', code: 'exhausted' },
  { name: 'FailedPrecondition', code: 'conflict' },
  { name: 'Aborted', code: 'conflict' },
  { name: 'OutOfRange', code: 'invalid' },
  { name: 'Unimplemented', code: 'unsupported' },
  { name: 'Internal', code: 'internal' },
  { name: 'Unavailable', code: 'unavailable' },
  { name: 'DataLoss', code: 'internal' },
  { name: 'Unauthenticated', code: 'unauthenticated' },
];

export const GRPC_OK = 0;
const GRPC_UNKNOWN = 2;

const NUMBERS: Readonly<Record<ErrorCode, number>> = {
  invalid: 3,
  deadline: 4,
  notFound: 5,
  exists: 6,
  denied: 7,
  exhausted: 8,
  conflict: 10,
  gone: 9,
  unsupported: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
};

/**
 * The text is the one that users know from events of Go kubelets. `data.grpcStatus` and `data.grpcMessage` have the parts.
 */
export function grpcError(path: string, status: number, message: string): CodedError {
  const { name, code } = STATUSES[status] ?? { name: `Code(${status})`, code: 'internal' };
  return new CodedError(code, `rpc error: code = ${name} desc = ${message}`, {
    data: { path, grpcStatus: status, grpcName: name, grpcMessage: message },
  });
}

/** What a server answers for an error: its gRPC status if it has one, else the nearest to its code. */
export function statusOf(error: unknown): { readonly status: number; readonly message: string } {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof CodedError)) return { status: GRPC_UNKNOWN, message };
  const { grpcStatus, grpcMessage } = error.data;
  if (typeof grpcStatus === 'number' && typeof grpcMessage === 'string')
    return { status: grpcStatus, message: grpcMessage };
  return { status: NUMBERS[codeOf(error)], message };
}

/** `grpc-message` carries UTF-8 with everything outside printable ASCII, and the percent sign, as %XX. */
export function encodeGrpcMessage(text: string): string {
  return Buffer.from(text, 'utf8')
    .toString('latin1')
    .replace(/[^ -$&-~]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}

/** Broken escapes are left as they stand: a half-readable message is better than none. */
export function decodeGrpcMessage(text: string): string {
  if (!text.includes('%')) return text;
  const bytes = text.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
