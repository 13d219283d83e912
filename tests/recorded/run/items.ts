/** A recorded life and one that was just seen, as lists of lines that can be compared: what changes from run to run has its kind's name. */
import type { ContainerState, ContainerStatus, PodStatus } from '../../../src/api/pod-status.ts';
import type { RecordedEvent, RecordedFile, RecordedInside } from '../lives.ts';
import type { Item } from './compare.ts';
import type { CgroupValues } from './observe.ts';

/** Both sides in one form. */
export interface Telling {
  readonly statuses: readonly PodStatus[];
  /** The last one before the end of the pod was asked for. */
  readonly settled: PodStatus | undefined;
  readonly events: readonly RecordedEvent[];
  /** Undefined where there are none of the recorded kind. */
  readonly cgroups: CgroupValues | undefined;
  readonly inside: Readonly<Record<string, RecordedInside>>;
  readonly files: readonly RecordedFile[];
  readonly logs: readonly RecordedFile[];
  /** What was asked of the runtime. */
  readonly requests: readonly string[];
  /** Puts names of kinds in the place of ids, addresses, times, paths. */
  neutral(text: string): string;
}

export function itemsOf(recorded: Telling, seen: Telling): readonly Item[] {
  const item = (name: string, lines: (telling: Telling) => readonly string[]): Item => ({
    name,
    recorded: lines(recorded).map(recorded.neutral),
    seen: lines(seen).map(seen.neutral),
  });
  const containers = Object.keys(recorded.inside);
  const inside = (name: string, lines: (one: RecordedInside) => readonly string[]): Item =>
    item(name, ({ inside: all }) =>
      containers.flatMap((container) => {
        const one = all[container];
        return one === undefined ? [`${container}: does not run`] : lines(one).map((line) => `${container}: ${line}`);
      }),
    );
  return [
    item('states', ({ statuses }) => stateLines(statuses)),
    item('conditions', ({ statuses }) => conditionLines(statuses)),
    item('status', ({ settled }) => (settled === undefined ? [] : flatten(settled))),
    item('last status', ({ statuses }) => flatten(statuses.at(-1) ?? {})),
    item('events', ({ events }) => byPlace(events).map(eventLine)),
    item('counts', ({ events }) => byPlace(events).map(countLine)),
    ...(seen.cgroups === undefined ? [] : [item('cgroups', ({ cgroups = {} }) => flatten(cgroups))]),
    item('files', ({ files }) => files.map((file) => file.join(' ').trim()).sort()),
    item('requests', ({ requests }) => requests),
    item('logs', ({ logs }) => logs.map((file) => file.join(' ').trim()).sort()),
    inside('hosts', ({ hosts }) => hosts.split('\n')),
    inside('resolv.conf', ({ resolv }) => resolv.split('\n')),
    inside('hostname', ({ hostname }) => [hostname]),
    inside('env', ({ env }) => env),
    inside('id', ({ id }) => [id]),
    inside('mounts', ({ mounts }) => mounts.filter((line) => seen.cgroups !== undefined || !isCgroupMount(line))),
  ];
}

const isCgroupMount = (line: string): boolean => line.includes(' /sys/fs/cgroup');

/** The states that each container, and the phases that the pod went through, without the times in between. */
function stateLines(statuses: readonly PodStatus[]): readonly string[] {
  const names = [...new Set(statuses.flatMap((status) => containersOf(status).map(({ name }) => name)))];
  const phases = once(statuses.map(({ phase = '' }) => `phase ${phase}`));
  const states = names.map((name) =>
    once(statuses.flatMap((status) => containersOf(status).filter((one) => one.name === name)).map(stateLine)),
  );
  return [...phases, ...states.flat()];
}

/** What each condition said, one after the other. */
function conditionLines(statuses: readonly PodStatus[]): readonly string[] {
  const types = [...new Set(statuses.flatMap(({ conditions = [] }) => conditions.map(({ type }) => type)))].sort();
  return types.flatMap((type) => {
    const said = statuses.flatMap(({ conditions = [] }) => conditions.filter((one) => one.type === type));
    return once(said.map(({ status, reason = '' }) => `${type} ${status} ${reason}`.trimEnd()));
  });
}

const once = (lines: readonly string[]): readonly string[] => lines.filter((line, index) => line !== lines[index - 1]);

const containersOf = (status: PodStatus): readonly ContainerStatus[] => [
  ...(status.initContainerStatuses ?? []),
  ...(status.containerStatuses ?? []),
];

function stateLine({ name, restartCount, state, ready, started }: ContainerStatus): string {
  const flags = [ready ? 'ready' : '', started === true ? 'started' : ''].filter((flag) => flag !== '');
  return [`${name}#${restartCount}`, stateText(state), ...flags].join(' ');
}

function stateText({ running, waiting, terminated }: ContainerState): string {
  if (running !== undefined) return 'running';
  if (terminated !== undefined) return `terminated ${terminated.reason} ${terminated.exitCode}`;
  return `waiting ${waiting?.reason ?? ''}`;
}

const NAMED = ['type', 'name', 'ip', 'resourceID'] as const;

/** One line for each value, with the way to it; things in a list are known by their name where they have one. */
export function flatten(value: unknown, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return [`${path}: ${JSON.stringify(value)}`];
  if (Array.isArray(value)) {
    return value.flatMap((one, index) => flatten(one, `${path}[${nameOf(one) ?? index}]`));
  }
  const keys = Object.keys(value).sort();
  const fields = value as Readonly<Record<string, unknown>>;
  return keys.flatMap((key) => flatten(fields[key], path === '' ? key : `${path}.${key}`));
}

function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Readonly<Record<string, unknown>>;
  const key = NAMED.find((name) => typeof fields[name] === 'string');
  return key && String(fields[key]);
}

/** What is said about one container keeps its order; who is heard first of several is chance. */
function byPlace(events: readonly RecordedEvent[]): readonly RecordedEvent[] {
  const place = ({ fieldPath = '' }: RecordedEvent) => fieldPath;
  return events.toSorted((a, b) => (place(a) < place(b) ? -1 : place(a) > place(b) ? 1 : 0));
}

/** The log does not tell whether a message ended in a new line. */
const eventLine = ({ type, reason, fieldPath = 'pod', message }: RecordedEvent): string =>
  `${type} ${reason} ${fieldPath} ${JSON.stringify(message.trimEnd())}`;

const countLine = ({ reason, fieldPath = 'pod', message, count = 1 }: RecordedEvent): string =>
  `${count} ${reason} ${fieldPath} ${JSON.stringify(message.trimEnd())}`;
