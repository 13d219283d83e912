/** What a pod is told of itself in files. */
import { podFieldValue, resourceFieldValue } from '../../api/downward.ts';
import type { ResourceList } from '../../api/meta.ts';
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import type { Pod } from '../../api/pod.ts';
import type { DownwardApiVolumeFile } from '../../api/volume.ts';
import { quoteText } from '../../base/go-text.ts';
import { describeProblems, type Payload, type ProjectedFile } from './payload.ts';

export interface DownwardSource {
  readonly pod: Pod;
  readonly items?: readonly DownwardApiVolumeFile[] | undefined;
  readonly defaultMode: number;
  readonly nodeAllocatable: ResourceList;
  /** The gate PodLevelResources. */
  readonly podLevel: boolean;
}

const text = new TextEncoder();

export function downwardPayload(source: DownwardSource): Parsed<Payload> {
  const { items = [], defaultMode } = source;
  const payload = new Map<string, ProjectedFile>();
  const problems: string[] = [];
  for (const item of items) {
    const value = itemValue(item, source);
    if (value.ok) payload.set(item.path, { data: text.encode(value.value), mode: item.mode ?? defaultMode });
    else problems.push(value.problem);
  }
  return problems.length === 0 ? parsed(payload) : unparsable(describeProblems(problems));
}

function itemValue({ fieldRef, resourceFieldRef }: DownwardApiVolumeFile, source: DownwardSource): Parsed<string> {
  if (fieldRef !== undefined) return fieldValue(source.pod, fieldRef.fieldPath);
  if (resourceFieldRef === undefined) return parsed('');
  const { pod, nodeAllocatable, podLevel } = source;
  return resourceFieldValue({ pod, container: undefined, selector: resourceFieldRef, nodeAllocatable, podLevel });
}

/** Files are made before the pod has addresses, so that only what its metadata says can be in them. */
const NOT_YET = { hostIps: [], podIps: [] };

function fieldValue(pod: Pod, fieldPath: string): Parsed<string> {
  if (fieldPath.startsWith('metadata.')) return podFieldValue(pod, fieldPath, NOT_YET);
  return fieldPath.endsWith("']")
    ? unparsable(`fieldPath ${quoteText(fieldPath)} does not support subscript`)
    : unparsable(`unsupported fieldPath: ${fieldPath}`);
}
