/** The page on port 4194: what the node and its pods do, live, and a few things to do about it. See docs/page.md. */
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { PodExplanation } from '../model/explanation.ts';
import type { PodView } from '../model/pod-view.ts';
import type { Route } from '../server/routes.ts';
import { createFeed, type FeedDeps } from './feed.ts';
import { type PageRoutesDeps, pageRoutes } from './routes.ts';
import { imageList, type NodeImage } from './rules/image-list.ts';
import { shownPod } from './rules/pod-list.ts';
import { settingsTable } from './rules/settings-table.ts';

type ShownView = Pick<PodView, 'pod' | 'explanation' | 'startedAt'>;

export interface PageDeps
  extends Pick<FeedDeps, 'sample' | 'onPodChange'>,
    Omit<PageRoutesDeps, 'feed' | 'images' | 'settings' | 'uidOf'> {
  readonly clock: Clock;
  readonly supervisor: Pick<Supervisor, 'run'>;
  /** With their statuses. */
  readonly views: () => readonly ShownView[];
  /** What holds a pod up, in one line; empty: nothing. */
  readonly why: (explanation: PodExplanation) => string;
  readonly events: (uid: string) => readonly object[];
  readonly images: (signal: AbortSignal) => Promise<readonly NodeImage[]>;
  readonly configuration: () => unknown;
  readonly originOf: (path: string) => string;
}

export interface Page {
  /** Samples what the page shows; to be started before its port. */
  readonly part: Part;
  readonly routes: readonly Route[];
}

export function createPage(deps: PageDeps): Page {
  const { views, why, events } = deps;
  const find = (namespace: string, name: string): ShownView | undefined =>
    views().find(({ pod: { metadata } }) => metadata.namespace === namespace && metadata.name === name);
  const feed = createFeed({
    ...deps,
    pods: () => views().map(({ pod, explanation, startedAt }) => shownPod(pod, why(explanation), startedAt)),
    detail: (namespace, name) => {
      const found = find(namespace, name);
      if (found === undefined) return null;
      const { pod, explanation } = found;
      return { pod, why: why(explanation), steps: explanation.steps, events: events(pod.metadata.uid) };
    },
  });
  const routes = pageRoutes({
    ...deps,
    feed,
    uidOf: (namespace, name) => find(namespace, name)?.pod.metadata.uid,
    images: async (signal) => imageList(await deps.images(signal), views().map(podOf)),
    settings: () => settingsTable(deps.configuration(), deps.originOf),
  });
  return { part: feed, routes };
}

const podOf = ({ pod }: ShownView): Pod => pod;
