/** Several sources in one directory. The token that every pod has for the API server comes this way. */
import type { Volume, VolumeProjection } from '../../api/volume.ts';
import { CodedError, codeOf, describeError } from '../../base/errors.ts';
import { invalid, type ObjectReference, type VolumeKind, waiting } from '../kind.ts';
import { DEFAULT_MODE, describeProblems, mergePayloads } from '../rules/payload.ts';
import { type ContentAnswer, createObjectVolumeKind, type ObjectVolumeDeps } from './object-volume.ts';
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
    prefetch: (pod, { sources = [] }, signal) => {
      for (const { serviceAccountToken: source } of sources) {
        // The request when the volume is made gets the same answer, or the same failure.
        if (source !== undefined) deps.token(tokenRequest(pod, source), signal).catch(() => undefined);
      }
    },
    references: (pod, { sources = [] }) => sources.flatMap((source) => referencesOf(source, pod.metadata)),
  });
}

/** Every source without content is named, not only the first one. */
function mergeContents(answers: readonly PromiseSettledResult<ContentAnswer>[]): ContentAnswer {
  const problems = answers.flatMap(problemOf);
  const failed = answers.find((answer) => answer.status === 'rejected');
  if (failed !== undefined) throw new CodedError(codeOf(failed.reason), describeProblems(problems));
  const given = answers.filter((answer) => answer.status === 'fulfilled').map(({ value }) => value);
  if (problems.length > 0) {
    const isInvalid = given.some(({ kind }) => kind === 'invalid');
    return isInvalid ? invalid(describeProblems(problems)) : waiting(describeProblems(problems));
  }
  const contents = given.filter((answer) => answer.kind === 'content');
  const payload = mergePayloads(contents.map((content) => content.payload));
  const times = contents.map(({ refreshAt }) => refreshAt).filter((time) => time !== undefined);
  return { kind: 'content', payload, ...(times.length === 0 ? {} : { refreshAt: Math.min(...times) }) };
}

function problemOf(answer: PromiseSettledResult<ContentAnswer>): readonly string[] {
  if (answer.status === 'rejected') return [describeError(answer.reason)];
  return answer.value.kind === 'content' ? [] : [answer.value.message];
}

function referencesOf(
  { configMap, secret, clusterTrustBundle, podCertificate }: VolumeProjection,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): readonly ObjectReference[] {
  if (configMap !== undefined) return [{ kind: 'configMap', namespace, name: configMap.name ?? '' }];
  if (secret !== undefined) return [{ kind: 'secret', namespace, name: secret.name ?? '' }];
  // Without a name every bundle may match the signer.
  if (clusterTrustBundle !== undefined) {
    return [{ kind: 'clusterTrustBundle', namespace: '', name: clusterTrustBundle.name ?? ANY_NAME }];
  }
  return podCertificate === undefined ? [] : [{ kind: 'podCertificate', namespace, name }];
}

const ANY_NAME = '';
