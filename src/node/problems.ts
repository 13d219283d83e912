/** Why the node is not Ready, collected from the other parts of the kubelet. */
import type { NodeProblems } from './node.ts';
import { relistProblems } from './rules/relist.ts';

export interface ProblemDeps {
  readonly mono: () => number;
  /** When the runtime's containers were last listed, monotonic; undefined before the first time. */
  readonly lastRelist: () => number | undefined;
  /** Why the node is closed; undefined: it is not. */
  readonly shutdown: () => string | undefined;
}

export function createNodeProblems({ mono, lastRelist, shutdown }: ProblemDeps): () => NodeProblems {
  const createdAt = mono();
  return () => ({
    parts: relistProblems(mono() - (lastRelist() ?? createdAt)),
    storage: undefined,
    shutdown: shutdown(),
  });
}
