/** What closing a node needs of other parts. */
import type { PodUid } from '../api/ids.ts';
import type { PodEnding, PodUpdate, PodView } from '../model/pod-view.ts';

export interface PodsOfNode {
  views(): readonly PodView[];
  end(uid: PodUid, request: EndingRequest): void;
  /** Static pods that ended because the node was closed begin again. */
  reopen(): void;
  desired(): { readonly everySourceHeard: boolean } | undefined;
  subscribe(name: string, listener: (update: PodUpdate) => void): () => void;
}

export interface EndingRequest {
  readonly end: PodEnding;
  readonly graceSeconds: number;
  readonly eventType: undefined;
}

export interface ShutdownMeter {
  /** Seconds since 1970; 0: none. */
  times(start: number, end: number): void;
}
