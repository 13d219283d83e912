/** What files of the downward API show of a pod. */
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
  /** What fields of this pod were read before, for a volume of many sources. */
  readonly fields?: FieldContents;
}

/** By the path of the field: ten thousand files can show the same one. */
export type FieldContents = Map<string, Parsed<Uint8Array>>;

const text = new TextEncoder();

export function downwardPayload(source: DownwardSource): Parsed<Payload> {
  const { items = [], defaultMode, fields = new Map() } = source;
  const payload = new Map<string, ProjectedFile>();
  const problems: string[] = [];
  for (const item of items) {
    const value = itemContent(item, source, fields);
    if (value.ok) payload.set(item.path, { data: value.value, mode: item.mode ?? defaultMode });
    else problems.push(value.problem);
  }
  return problems.length === 0 ? parsed(payload) : unparsable(describeProblems(problems));
}

function itemContent(
  { fieldRef, resourceFieldRef }: DownwardApiVolumeFile,
  source: DownwardSource,
  fields: FieldContents,
): Parsed<Uint8Array> {
  const { pod, nodeAllocatable, podLevel } = source;
  if (fieldRef !== undefined) {
    const content = fields.get(fieldRef.fieldPath) ?? encoded(fieldValue(pod, fieldRef.fieldPath));
    fields.set(fieldRef.fieldPath, content);
    return content;
  }
  if (resourceFieldRef === undefined) return encoded(parsed(''));
  const selector = resourceFieldRef;
  return encoded(resourceFieldValue({ pod, container: undefined, selector, nodeAllocatable, podLevel }));
}

function encoded(value: Parsed<string>): Parsed<Uint8Array> {
  return value.ok ? parsed(text.encode(value.value)) : value;
}

/** Files are made before the pod has addresses, so that only what its metadata says can be in them. */
const NOT_YET = { hostIps: [], podIps: [] };

function fieldValue(pod: Pod, fieldPath: string): Parsed<string> {
  if (fieldPath.startsWith('metadata.')) return podFieldValue(pod, fieldPath, NOT_YET);
  return fieldPath.endsWith("']")
    ? unparsable(`fieldPath ${quoteText(fieldPath)} does not support subscript`)
    : unparsable(`unsupported fieldPath: ${fieldPath}`);
}
