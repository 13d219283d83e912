/** Several sources in one directory. The token that every pod has for the API server comes this way. */
import type { Volume, VolumeProjection } from '../../api/volume.ts';
import { CodedError, codeOf, describeError } from '../../base/errors.ts';
import type { ObjectReference, VolumeKind } from '../kind.ts';
import { DEFAULT_MODE, describeProblems, mergePayloads } from '../rules/payload.ts';
import { createObjectVolumeKind, type ObjectContent, type ObjectVolumeDeps } from './object-volume.ts';
import { type ProjectedSourceDeps, readProjectedSource, tokenRequest } from './projected-source.ts';

export interface ProjectedKindDeps extends ObjectVolumeDeps, ProjectedSourceDeps {}

export function createProjectedKind(deps: ProjectedKindDeps): VolumeKind {
  return createObjectVolumeKind<NonNullable<Volume['projected']>>(deps, {
    plugin: 'kubernetes.io/projected',
    medium: 'memory',
    dependsOnPod: true,
    source: ({ projected }) => projected,
    content: async ({ pod, volume, fsGroup }, { sources = [], defaultMode = DEFAULT_MODE }, signal) => {
      const request = { pod, volumeName: volume.name, fsGroup, defaultMode, fields: new Map() };
      const answers = await Promise.allSettled(
        sources.map((source, index) => readProjectedSource(deps, { ...request, source, index }, signal)),
      );
      signal.throwIfAborted();
      return mergeContents(answers);
    },
    foresee: (pod, { sources = [] }, signal) => {
      for (const { serviceAccountToken: source } of sources) {
        // Whoever asks next gets the same answer.
        if (source !== undefined) deps.token(tokenRequest(pod, source), signal).catch(() => undefined);
      }
    },
    references: (pod, { sources = [] }) => sources.flatMap((source) => referencesOf(source, pod.metadata)),
  });
}

/** Every source that can't be had is named, not only the first one. */
function mergeContents(answers: readonly PromiseSettledResult<ObjectContent>[]): ObjectContent {
  const failures = answers.filter((answer) => answer.status === 'rejected').map(({ reason }) => reason as unknown);
  if (failures.length > 0) {
    throw new CodedError(codeOf(failures[0]), describeProblems(failures.map(describeError)));
  }
  const contents = answers.filter((answer) => answer.status === 'fulfilled').map(({ value }) => value);
  const payload = mergePayloads(contents.map((content) => content.payload));
  const times = contents.map(({ refreshAt }) => refreshAt).filter((time) => time !== undefined);
  return times.length === 0 ? { payload } : { payload, refreshAt: Math.min(...times) };
}

function referencesOf(
  { configMap, secret, clusterTrustBundle, podCertificate }: VolumeProjection,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): readonly ObjectReference[] {
  if (configMap !== undefined) return [{ kind: 'configMap', namespace, name: configMap.name ?? '' }];
  if (secret !== undefined) return [{ kind: 'secret', namespace, name: secret.name ?? '' }];
  // Without a name any bundle may become one of its signer's.
  if (clusterTrustBundle !== undefined) {
    return [{ kind: 'clusterTrustBundle', namespace: '', name: clusterTrustBundle.name ?? ANY_NAME }];
  }
  return podCertificate === undefined ? [] : [{ kind: 'podCertificate', namespace, name }];
}

const ANY_NAME = '';
