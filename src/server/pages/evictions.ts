/** `/evictions`: why pods were evicted, and why those and not others. */
import { jsonAnswer, type Route } from '../routes.ts';

export interface EvictionPageDeps {
  /** The oldest first. */
  readonly decisions: () => readonly object[];
}

export function evictionRoutes({ decisions }: EvictionPageDeps): readonly Route[] {
  return [
    {
      name: 'evictions',
      methods: ['GET'],
      pattern: '/evictions',
      // It names pods and what they use.
      access: { fineGrained: 'pods', subresource: 'proxy', verb: 'method' },
      port: 'secure',
      switch: 'debugging',
      handle: ({ answer }) => answer(jsonAnswer({ decisions: decisions() })),
    },
  ];
}
