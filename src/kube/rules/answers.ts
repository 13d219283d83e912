/** What an answer of the API server means: the error codes that the rest of the program uses. */
import { CodedError, type ErrorCode } from '../../base/errors.ts';
import type { KubeErrorData, KubeStatus } from '../kube.ts';

export interface Refusal {
  /** `PATCH /api/v1/nodes/x`. */
  readonly what: string;
  readonly httpStatus: number;
  readonly body: string;
  readonly retryAfterMs: number | undefined;
}

/** Enough of a body that is not a Status to see where it comes from. */
const LONGEST_SHOWN = 300;

export function refusalError({ what, httpStatus, body, retryAfterMs }: Refusal): CodedError {
  const status = parseStatus(body);
  const data: KubeErrorData = {
    httpStatus,
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
  const detail = status?.message ?? body.trim().slice(0, LONGEST_SHOWN);
  return new CodedError(codeOfStatus(httpStatus, status?.reason), `${what}: ${httpStatus}${detail && `: ${detail}`}`, {
    data: { ...data },
  });
}

export function codeOfStatus(httpStatus: number, reason: string | undefined): ErrorCode {
  switch (httpStatus) {
    case 401:
      return 'unauthenticated';
    case 403:
      return 'denied';
    case 404:
      return 'notFound';
    case 409:
      return reason === 'AlreadyExists' ? 'exists' : 'conflict';
    case 410:
      return 'gone';
    case 408:
    case 429:
      return 'unavailable';
    default:
      return httpStatus >= 400 && httpStatus < 500 ? 'invalid' : 'unavailable';
  }
}

function parseStatus(body: string): KubeStatus | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isStatus(value) ? value : undefined;
  } catch {
    return undefined; // a proxy's page, or nothing
  }
}

export function isStatus(value: unknown): value is KubeStatus {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status';
}

/** Seconds only: the API server sends no dates. */
export function parseRetryAfter(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header.trim()) ? Number(header) * 1000 : undefined;
}
