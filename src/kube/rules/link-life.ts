/**
 * How a connection to the API server ends.
 *
 *   open ──retire──► retiring ──last call over──► closed
 *     └──────────────destroy──────┴──────────────────┘
 */
export type LinkLife =
  | 'open'
  /** Takes no more calls, and closes after the ones under way. */
  | 'retiring'
  | 'closed';

export type LinkEvent =
  | { readonly kind: 'retire'; readonly reason: Error }
  | { readonly kind: 'destroy'; readonly reason: Error }
  | { readonly kind: 'callOver' };

/** What the runner has to do now. */
export type LinkEffect =
  | { readonly kind: 'none' }
  /** End the calls that would never end by themselves. */
  | { readonly kind: 'cutEndless'; readonly reason: Error }
  /** No call is left: close the sockets. */
  | { readonly kind: 'close' }
  /** Fail every call and close the sockets. */
  | { readonly kind: 'destroy'; readonly reason: Error };

export interface LinkStep {
  readonly life: LinkLife;
  readonly effect: LinkEffect;
}

/** `active` is the number of calls under way after the event. */
export function nextLinkLife(life: LinkLife, event: LinkEvent, active: number): LinkStep {
  switch (event.kind) {
    case 'destroy':
      // Also after an orderly close: one that a dead network holds up has to end too.
      return { life: 'closed', effect: { kind: 'destroy', reason: event.reason } };
    case 'retire':
      if (life === 'closed') return unchanged(life);
      if (active === 0) return CLOSE;
      return { life: 'retiring', effect: { kind: 'cutEndless', reason: event.reason } };
    case 'callOver':
      return life === 'retiring' && active === 0 ? CLOSE : unchanged(life);
  }
}

const CLOSE: LinkStep = { life: 'closed', effect: { kind: 'close' } };

function unchanged(life: LinkLife): LinkStep {
  return { life, effect: { kind: 'none' } };
}
