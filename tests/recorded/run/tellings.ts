/** Both sides of a comparison in one form: a life from the recording, and one from a run in the lab. */
import type { PodStatus } from '../../../src/api/pod-status.ts';
import type { SeenCall } from '../../lab/cri-proxy.ts';
import type { LabNode } from '../../lab/lab.ts';
import type { RecordedEvent, RecordedLife } from '../lives.ts';
import type { Telling } from './items.ts';
import { ALL_CPUS, type CgroupValues, type Observed } from './observe.ts';
import { recordedCalls, requestLines, seenCalls } from './requests.ts';
import { recordedPaths, standaloneLife } from './standalone.ts';

export function recordedTelling(
  life: RecordedLife,
  form: (life: RecordedLife) => RecordedLife = standaloneLife,
): Telling {
  const { statuses, events, files, inside, logs, cri } = form(life);
  // The first one is the API server's own, before the kubelet had seen the pod.
  const shown = statuses.slice(1);
  return {
    statuses: shown.map(({ status }) => status),
    settled: shown.findLast(({ deleting }) => deleting !== true)?.status,
    events,
    cgroups: recordedCgroups(life),
    inside,
    files: (files ?? []).map(withPath),
    logs: (logs ?? []).filter(([path]) => path !== '').map(([path = '', ...rest]) => [belowPod(path), ...rest]),
    requests: requestLines(recordedCalls({ ...life, cri })),
    neutral: (text) => neutralText(text, life),
  };
}

/** The directory itself was recorded without a path; a file's owner with an empty or no target. */
const withPath = (file: readonly string[]): readonly string[] =>
  file.length === 4 && file[0] === 'd' ? ['', ...file] : file;

const belowPod = (path: string): string => path.split('/').slice(1).join('/');

/** Of the machine that was recorded. */
const RECORDED_CPUS = '0-1';

function recordedCgroups(life: RecordedLife): CgroupValues {
  const made = life.cri.map(({ res, req }): readonly [string, string] => {
    if (res?.['pod_sandbox_id'] !== undefined) return [String(res['pod_sandbox_id']), 'sandbox'];
    const config = req['config'] as { readonly metadata?: { readonly name?: string } } | undefined;
    return [String(res?.['container_id']), config?.metadata?.name ?? ''];
  });
  const names = new Map(made);
  const uid = life.pod.metadata.uid;
  const entries = Object.entries(life.cgroups ?? {}).map(
    ([path, values]): [string, Readonly<Record<string, string>>] => {
      const last = path.split('/').at(-1) ?? '';
      return [
        last === `pod${uid}` ? `pod in ${path.slice(0, -last.length - 1)}` : (names.get(last) ?? last),
        withAllCpus(values),
      ];
    },
  );
  return Object.fromEntries(entries);
}

function withAllCpus(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return values['cpuset.cpus'] === RECORDED_CPUS ? { ...values, 'cpuset.cpus': ALL_CPUS } : values;
}

export interface SeenLife {
  readonly statuses: readonly PodStatus[];
  /** So many of the statuses had been shown when the end of the pod was asked for. */
  readonly untilEnd: number;
  readonly events: readonly RecordedEvent[];
  readonly observed: Observed;
  readonly calls: readonly SeenCall[];
  /** Where it is not the recorded one. */
  readonly uid?: string;
}

export function seenTelling(life: RecordedLife, seen: SeenLife, node: LabNode): Telling {
  const { statuses, untilEnd, events, observed, calls } = seen;
  const { name } = life.pod.metadata;
  const paths: readonly (readonly [string, string])[] = [
    [node.kubeletDirectory, '$ROOT'],
    ['/var/lib/kubelet', '$ROOT'],
    [node.podLogsDirectory, '$LOGS'],
    ['/var/log/pods', '$LOGS'],
    [node.containerd.root, '$LAB/cd-root'],
    [`${name}-${node.nodeName}`, name],
    ...(seen.uid === undefined ? [] : [[seen.uid, life.pod.metadata.uid] as const]),
  ];
  return {
    statuses,
    settled: statuses[untilEnd - 1],
    events,
    cgroups: observed.cgroups,
    inside: observed.inside,
    files: observed.files,
    requests: requestLines(seenCalls(calls, seen.uid ?? life.pod.metadata.uid)),
    logs: observed.logs.map(([path = '', kind = '', mode = '']) => [path, kind, mode]),
    neutral: (text) =>
      neutralText(
        paths.reduce(
          (changed, [ours, theirs]) => changed.replaceAll(ours, theirs),
          recordedPaths(text, node.world.directory),
        ),
        life,
      ),
  };
}

const KINDS: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{64}\b/g, 'ID'],
  [/\b10\.88\.\d+\.\d+\b/g, 'POD-IP'],
  [/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME'],
  [/\.\.20\d\d_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+/g, '..VERSION'],
  [/(containers\/[^/ ]+\/)[0-9a-f]{8}\b/g, '$1RANDOM'],
  [/(\.hostId: )\d+/g, '$1RANDOM'],
  // Where the machine's root is itself a directory of a file system, mounts are told with that directory in front.
  [/(^|\s)\/[^\s$]*(\$(?:ROOT|LAB)\/)/g, '$1$2'],
  [/(\$(?:ROOT|LAB)\/.*) - \w+$/g, '$1 - DISK'],
];

function neutralText(text: string, { pod }: RecordedLife): string {
  const named = text.replaceAll(pod.metadata.uid, 'UID');
  return KINDS.reduce((changed, [pattern, kind]) => changed.replaceAll(pattern, kind), named);
}
