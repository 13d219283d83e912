/** What can go wrong on the way to a registry, and which fault a request meets. */
export interface Fault {
  /** Regular expression over `METHOD /path`, such as `GET /v2/app/blobs/`. */
  readonly match: string;
  /** How many requests it hits; all of them where this is missing. */
  readonly times?: number;
  readonly does: FaultAction;
}

export type FaultAction =
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'slow'; readonly bytesPerSecond: number }
  /** The connection is reset in the middle of the body. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** Nothing more comes, and the connection stays open. */
  | { readonly kind: 'stall'; readonly afterBytes: number };

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** Missing while the registry has not answered, and where a connection broke before it could. */
  readonly status?: number;
  /** The user of basic auth, if the request had one. */
  readonly user?: string;
  readonly fault?: FaultAction['kind'];
}

/** Faults of the body meet only answers that have one worth cutting: a challenge for a password does not use them up. */
export type FaultStage = 'request' | 'body';

export interface FaultChooser {
  next(stage: FaultStage, method: string, path: string): FaultAction | undefined;
}

const STAGES: Readonly<Record<FaultAction['kind'], FaultStage>> = {
  status: 'request',
  delay: 'request',
  slow: 'body',
  cut: 'body',
  stall: 'body',
};

/** The first fault that matches and is not used up. */
export function createFaultChooser(faults: readonly Fault[]): FaultChooser {
  const left = faults.map((fault) => ({
    pattern: new RegExp(fault.match),
    times: fault.times ?? Infinity,
    does: fault.does,
  }));
  return {
    next: (stage, method, path) => {
      const hit = left.find(
        (fault) => fault.times > 0 && STAGES[fault.does.kind] === stage && fault.pattern.test(`${method} ${path}`),
      );
      if (hit === undefined) return undefined;
      hit.times -= 1;
      return hit.does;
    },
  };
}

/** The user name of a basic authorization header. */
export function userOf(authorization: string | undefined): string | undefined {
  const encoded = /^Basic (\S+)$/.exec(authorization ?? '')?.[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8').split(':', 1)[0];
}
