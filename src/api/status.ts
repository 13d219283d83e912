/** The object by which servers of Kubernetes' API answer that a request failed, or that there is no more to say. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: 'Failure' | 'Success';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly uid?: string;
    readonly causes?: readonly StatusCause[];
  };
  readonly code?: number;
}

/** Clients such as kubectl show its message, and programs read its reason. */
export function failureStatus(
  code: number,
  {
    reason,
    message,
    details,
  }: { readonly reason: string; readonly message: string; readonly details?: Status['details'] },
): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...(details && { details }),
    code,
  };
}
