/** Trust anchors of cluster trust bundles. The list is watched from the first request on, in the version that the server offers. */

import { createHash } from 'node:crypto';
import { apiPath } from '../api/api-path.ts';
import { type Parsed, parsed, unparsable } from '../api/parsed.ts';
import type { ClusterTrustBundle } from '../api/referenced-objects.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError, codeOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Kube } from '../kube/kube.ts';
import { createListed, type Listed } from './listed.ts';
import type { TrustBundleRequest } from './objects.ts';
import { matchesLabels } from './rules/label-selector.ts';
import { certificatePem, pemBlocks } from './rules/pem.ts';
import { createShared } from './shared.ts';

export interface TrustBundlesDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly kube: Pick<Kube, 'watch' | 'general'>;
  /** A bundle was added, changed or deleted. */
  readonly notify: (name: string) => void;
  /** Decides the order of the anchors, so that no one relies on a particular one. */
  readonly salt: string;
}

export interface TrustBundles {
  get(request: TrustBundleRequest, signal: AbortSignal): Promise<Parsed<string>>;
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
}

const VERSIONS = ['v1beta1', 'v1alpha1'] as const;
const FIRST_LIST_MS = 10_000;
const UNSUPPORTED = 'ClusterTrustBundle projection is not supported in static kubelet mode';

export function createTrustBundles(deps: TrustBundlesDeps): TrustBundles {
  const opening = createShared<Listed<ClusterTrustBundle> | undefined>();
  let list: Listed<ClusterTrustBundle> | undefined;
  let running: AbortSignal | undefined;

  const open = async (signal: AbortSignal): Promise<Listed<ClusterTrustBundle> | undefined> => {
    const version = await offeredVersion(deps, signal);
    if (version === undefined || running === undefined) return undefined;
    const opened = createListed<ClusterTrustBundle, ClusterTrustBundle>(deps, {
      path: apiPath`/apis/certificates.k8s.io/${version}/clustertrustbundles`,
      reduce: (bundle) => bundle,
      onChange: ({ metadata }, first) => {
        if (!first) deps.notify(metadata.name);
      },
    });
    await opened.start(running);
    list = opened;
    return opened;
  };

  return {
    get: async (request, signal) => {
      const opened = list ?? (await opening.run('', signal, open));
      if (opened === undefined) throw new CodedError('unsupported', UNSUPPORTED);
      const bundles = await opened.first(FIRST_LIST_MS, signal);
      if (bundles === undefined) {
        throw new CodedError('unavailable', 'ClusterTrustBundle informer has not yet synced');
      }
      const chosen = choose([...bundles.values()], request);
      return chosen.ok ? parsed(anchorsOf(chosen.value, deps.salt)) : chosen;
    },
    start: (signal) => {
      running = signal;
    },
    stop: async () => {
      running = undefined;
      await list?.stop?.();
      list = undefined;
    },
  };
}

async function offeredVersion({ kube, log }: TrustBundlesDeps, signal: AbortSignal): Promise<string | undefined> {
  for (const version of VERSIONS) {
    const path = apiPath`/apis/certificates.k8s.io/${version}`;
    try {
      const { resources = [] } = await kube.general.request<{ resources?: readonly { readonly name: string }[] }>(
        { method: 'GET', path },
        signal,
      );
      if (resources.some(({ name }) => name === 'clustertrustbundles')) return version;
    } catch (error) {
      if (codeOf(error) !== 'notFound') throw error;
    }
  }
  log.info('No version of the ClusterTrustBundle API was found');
  return undefined;
}

function choose(
  bundles: readonly ClusterTrustBundle[],
  request: TrustBundleRequest,
): Parsed<readonly ClusterTrustBundle[]> {
  if ('name' in request) {
    const named = bundles.filter(({ metadata }) => metadata.name === request.name);
    const problem = `clustertrustbundle.certificates.k8s.io ${JSON.stringify(request.name)} not found`;
    return named.length > 0 ? parsed(named) : unparsable(`while getting ClusterTrustBundle: ${problem}`);
  }
  const chosen = bundles.filter(
    ({ metadata, spec }) =>
      (spec.signerName ?? '') === request.signerName && matchesLabels(request.labelSelector, metadata.labels),
  );
  if (chosen.length > 0) return parsed(chosen);
  return unparsable('combination of signerName and labelSelector matched zero ClusterTrustBundles');
}

function anchorsOf(bundles: readonly ClusterTrustBundle[], salt: string): string {
  const anchors = new Set(bundles.flatMap(({ spec }) => pemBlocks(spec.trustBundle)));
  const order = (content: string) => createHash('sha256').update(salt).update(content).digest('hex');
  const ordered = [...anchors].map((content) => ({ content, rank: order(content) }));
  ordered.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return certificatePem(ordered.map(({ content }) => content));
}
