/** The page on port 4194, and what it shows. */
import { join } from 'node:path';
import type { Part } from '../base/lifecycle.ts';
import { type Config, renderConfigz } from '../config/config.ts';
import { KUBERNETES_VERSION } from '../config/version.ts';
import type { Eviction } from '../eviction/eviction.ts';
import { processorsOf } from '../model/machine.ts';
import { createPage, type Page } from '../page/page.ts';
import { pageSetting } from '../page/settings.ts';
import { whyText } from '../plan/blocking.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import type { Running } from '../runtime/running.ts';
import { createLogin, mayWrite, reviewTokenOfFile } from '../server/auth/login.ts';
import { sendCadvisorMetrics } from '../server/pages/plain.ts';
import { listViews, type PodsPort } from '../server/pods-port.ts';
import { createServer } from '../server/server.ts';
import { serverConfig } from '../server/settings.ts';
import type { Stats } from '../stats/stats.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import type { PartDeps } from './compose.ts';
import type { LocalApiParts } from './local-api.ts';
import type { PodParts } from './pods.ts';
import { composeStreams } from './streams.ts';

export interface PageTools extends Pick<PodParts, 'pods' | 'statuses' | 'events'> {
  readonly served: PodsPort;
  readonly cri: CriClient;
  readonly running: Running;
  readonly statistics: Stats;
  readonly eviction: Pick<Eviction, 'decisions'>;
  readonly local: LocalApiParts | undefined;
  /** The configuration as it is after a reload. */
  readonly shown: () => Config;
}

/** Nothing where it is off. */
export function composePage(config: Config, deps: PartDeps, tools: PageTools): readonly Part[] {
  const { clock, supervisor, nodeName, surroundings } = deps;
  const log = deps.log.named('page');
  const setting = pageSetting(config, surroundings?.environment);
  if (setting.kind === 'invalid') log.error('The page is not served', { problem: setting.problem });
  if (setting.kind !== 'on') return [];
  const page = pageOf(config, deps, tools);
  const own = serverConfig(config, { nodeName, isStandalone: true, environment: {} });
  const port = createServer(
    {
      ...{ clock, log, supervisor, request: undefined, routes: page.routes },
      // Those of the kubelet's ports are not mixed with these.
      metrics: createMetrics({ version: KUBERNETES_VERSION, showHiddenFor: '' }),
      giveBackMemory: deps.host.own.giveBackMemory,
    },
    { ...own, secure: undefined, readOnly: setting.listen, refusesOtherSites: true },
  );
  return [page.part, { ...port, name: 'port of the page' }];
}

function pageOf(config: Config, deps: PartDeps, tools: PageTools): Page {
  const { clock, supervisor, nodeName, machine, pageFile } = deps;
  const { pods, statuses, events, served, cri, statistics, eviction, local } = tools;
  const isAlone = config.settings.api.kubeconfig === '';
  const review = local?.reviewToken ?? reviewTokenOfFile(join(config.settings.directories.root, 'server-token'));
  return createPage({
    ...{ clock, supervisor, mayWrite, why: (explanation) => whyText(explanation, clock.now()) },
    ...{ sample: statistics.sample, sendMetrics: sendCadvisorMetrics(statistics) },
    views: () => listViews(served),
    onPodChange: (listener) => {
      const ends = [pods.subscribe('page', listener), statuses.subscribe('page', listener)];
      return () => {
        for (const end of ends) end();
      };
    },
    events: (uid) => events.list({ uid }),
    images: (signal) => cri.images.list(signal),
    configuration: () => (renderConfigz(tools.shown()) as { readonly kubeletconfig: unknown }).kubeletconfig,
    originOf: (path) => tools.shown().origins.of(path),
    evictions: () => eviction.decisions(),
    cadvisor: {
      machine: statistics.spec,
      containers: statistics.containers,
      containersByName: statistics.containersByName,
      attributes: { kernel_version: machine.kernelVersion, container_os_version: machine.osImage },
    },
    facts: {
      ...{ nodeName, version: KUBERNETES_VERSION, login: isAlone },
      cpus: processorsOf(machine).length,
      memoryBytes: machine.memoryBytes,
      kernel: machine.kernelVersion,
      osImage: machine.osImage,
    },
    login: isAlone ? createLogin(review) : () => Promise.resolve(undefined),
    endpoints: composeStreams(config, deps, tools),
    remove: local?.removePod,
    asset: pageFile ?? (() => Promise.resolve(undefined)),
  });
}
