/**
 * How far pulls are. CRI can't say, but containerd's content store on the same socket can: it lists what is being downloaded, and the
 * labels of a manifest that is there already say which layers it needs and where it came from.
 */
import { codeOf } from '../base/errors.ts';
import { Content, type Info } from '../wire/gen/containerd-content-v1.ts';
import type { GrpcClient } from '../wire/grpc-client.ts';

export interface LayerDownload {
  /** In steps of about a megabyte. */
  readonly receivedBytes: number;
  /** 0 where it is not known. */
  readonly totalBytes: number;
  /** Wall clock, ms; undefined where it is not known. */
  readonly startedAt: number | undefined;
}

export interface ContainerdDownloads {
  /**
   * Layers that are being downloaded for images of this repository, such as `docker.io/library/busybox`. Undefined where the
   * runtime is not containerd.
   */
  of(repository: string, signal: AbortSignal): Promise<readonly LayerDownload[] | undefined>;
}

/** What CRI keeps its images under. */
const METADATA = { 'containerd-namespace': 'k8s.io' };
const DEADLINE_MS = 5_000;
const SOURCE = 'containerd.io/distribution.source.';
/** `…l.0`, `…l.1` and so on: the layers of a manifest. */
const LAYER = 'containerd.io/gc.ref.content.l.';
const LAYER_DOWNLOAD = 'layer-';

export function createContainerdDownloads(grpc: GrpcClient): ContainerdDownloads {
  const listUnderWay = async (signal: AbortSignal) => {
    const options = { signal, deadline: DEADLINE_MS, metadata: METADATA };
    const { statuses } = await grpc.unary(Content.listStatuses, {}, options);
    return statuses.filter(({ ref }) => ref.startsWith(LAYER_DOWNLOAD));
  };
  const listManifests = async (registry: string, signal: AbortSignal) => {
    const found: Info[] = [];
    const filters = [`labels.${JSON.stringify(`${SOURCE}${registry}`)},labels.${JSON.stringify(`${LAYER}0`)}`];
    const onMessage = ({ info }: { readonly info: readonly Info[] }) => found.push(...info);
    await grpc.serverStream(
      Content.list,
      { filters },
      { signal, deadline: DEADLINE_MS, metadata: METADATA, onMessage },
    );
    return found;
  };
  return {
    of: async (repository, signal) => {
      const slash = repository.indexOf('/');
      // Labels name the host without its port.
      const registry = repository
        .slice(0, slash)
        .replace(/:\d+$/, '')
        .replace(/^\[(.*)\]$/, '$1');
      const path = repository.slice(slash + 1);
      try {
        const underWay = await listUnderWay(signal);
        if (underWay.length === 0) return [];
        const layers = new Set(
          (await listManifests(registry, signal))
            .filter(({ labels }) => (labels[`${SOURCE}${registry}`] ?? '').split(',').includes(path))
            .flatMap(({ labels }) => Object.entries(labels))
            .flatMap(([label, digest]) => (label.startsWith(LAYER) ? [`${LAYER_DOWNLOAD}${digest}`] : [])),
        );
        return underWay
          .filter(({ ref }) => layers.has(ref))
          .map(({ offset: receivedBytes, total: totalBytes, startedAt }) => ({
            receivedBytes,
            totalBytes,
            startedAt: startedAt && Number(startedAt.seconds) * 1000,
          }));
      } catch (error) {
        if (codeOf(error) === 'unsupported') return undefined;
        throw error;
      }
    },
  };
}
