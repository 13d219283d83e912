/** Lists as tables, which is how `kubectl get` asks for them: the server decides on the columns. */
import { parseTimestamp } from '../../api/timestamp.ts';
import { type ApiObject, isMap, mapOf } from './objects.ts';
import { podCells } from './pod-cells.ts';
import type { Resource } from './resources.ts';

export interface Column {
  readonly name: string;
  /** Shown with `-o wide` only. */
  readonly isWide?: boolean;
  readonly format?: 'name';
}

type Cells = (object: ApiObject, now: number) => readonly (string | number)[];
interface Layout {
  readonly columns: readonly Column[];
  readonly cells: Cells;
}

export type IncludeObject = 'Metadata' | 'Object' | 'None';

/** `now`: ms since 1970. */
export function tableOf(
  resource: Resource,
  objects: readonly ApiObject[],
  meta: object,
  options: { readonly now: number; readonly include: IncludeObject },
): object {
  const { columns, cells } = LAYOUTS[resource.plural] ?? PLAIN;
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: meta,
    columnDefinitions: columns.map(({ name, isWide, format }) => ({
      name,
      type: 'string',
      format: format ?? '',
      description: name,
      priority: isWide ? 1 : 0,
    })),
    rows: objects.map((object) => ({
      cells: cells(object, options.now),
      object: shownObject(object, options.include),
    })),
  };
}

function shownObject(object: ApiObject, include: IncludeObject): object | null {
  if (include === 'None') return null;
  if (include === 'Object') return object;
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata };
}

const NAME: Column = { name: 'Name', format: 'name' };
const AGE: Column = { name: 'Age' };
const columns = (...names: readonly string[]): readonly Column[] => [NAME, ...names.map((name) => ({ name })), AGE];

export const ageOf = ({ metadata }: ApiObject, now: number): string => since(metadata.creationTimestamp, now);

export function since(timestamp: unknown, now: number): string {
  const at = typeof timestamp === 'string' ? parseTimestamp(timestamp) : undefined;
  return at === undefined ? '<unknown>' : shortDuration(Math.max(now - at, 0));
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** In the steps that kubectl uses: exact while it is young. */
export function shortDuration(ms: number): string {
  const two = (unit: number, name: string, smaller: number, smallerName: string): string => {
    const rest = Math.floor((ms % unit) / smaller);
    return `${Math.floor(ms / unit)}${name}${rest === 0 ? '' : `${rest}${smallerName}`}`;
  };
  if (ms < 2 * MINUTE) return `${Math.floor(ms / SECOND)}s`;
  if (ms < 10 * MINUTE) return two(MINUTE, 'm', SECOND, 's');
  if (ms < 3 * HOUR) return `${Math.floor(ms / MINUTE)}m`;
  if (ms < 8 * HOUR) return two(HOUR, 'h', MINUTE, 'm');
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)}h`;
  if (ms < 8 * DAY) return two(DAY, 'd', HOUR, 'h');
  if (ms < 2 * YEAR) return `${Math.floor(ms / DAY)}d`;
  return ms < 8 * YEAR ? two(YEAR, 'y', DAY, 'd') : `${Math.floor(ms / YEAR)}y`;
}

const sizeOf = (...maps: readonly unknown[]): number =>
  maps.reduce((sum: number, map) => sum + Object.keys(mapOf(map)).length, 0);
const textOf = (value: unknown, otherwise = '<none>'): string =>
  typeof value === 'string' && value !== '' ? value : otherwise;
const fieldsOf = (object: ApiObject): Readonly<Record<string, unknown>> => ({ ...object });

const PLAIN: Layout = { columns: columns(), cells: (object, now) => [object.metadata.name, ageOf(object, now)] };

const LAYOUTS: Readonly<Record<string, Layout>> = {
  pods: {
    columns: [
      ...[NAME, ...['Ready', 'Status', 'Restarts'].map((name) => ({ name })), AGE],
      ...['IP', 'Node', 'Nominated Node', 'Readiness Gates'].map((name) => ({ name, isWide: true })),
    ],
    cells: (object, now) => podCells(object, { age: ageOf(object, now), ago: (time) => since(time, now) }),
  },
  namespaces: {
    columns: columns('Status'),
    cells: (object, now) => [object.metadata.name, textOf(mapOf(object.status)['phase']), ageOf(object, now)],
  },
  configmaps: {
    columns: columns('Data'),
    cells: (object, now) => {
      const { data, binaryData } = fieldsOf(object);
      return [object.metadata.name, sizeOf(data, binaryData), ageOf(object, now)];
    },
  },
  secrets: {
    columns: columns('Type', 'Data'),
    cells: (object, now) => {
      const { type, data } = fieldsOf(object);
      return [object.metadata.name, textOf(type), sizeOf(data), ageOf(object, now)];
    },
  },
  serviceaccounts: {
    columns: columns('Secrets'),
    cells: (object, now) => {
      const { secrets } = fieldsOf(object);
      return [object.metadata.name, Array.isArray(secrets) ? secrets.length : 0, ageOf(object, now)];
    },
  },
  leases: {
    columns: columns('Holder'),
    cells: (object, now) => [
      object.metadata.name,
      textOf(mapOf(object.spec)['holderIdentity'], ''),
      ageOf(object, now),
    ],
  },
  runtimeclasses: {
    columns: columns('Handler'),
    cells: (object, now) => [object.metadata.name, textOf(fieldsOf(object)['handler']), ageOf(object, now)],
  },
  events: {
    columns: ['Last Seen', 'Type', 'Reason', 'Object', 'Message'].map((name) => ({ name })),
    cells: (object, now) => {
      const { lastTimestamp, eventTime, firstTimestamp, type, reason, involvedObject, message } = fieldsOf(object);
      const { kind, name } = mapOf(involvedObject);
      const seen = since(lastTimestamp ?? eventTime ?? firstTimestamp ?? object.metadata.creationTimestamp, now);
      return [
        seen,
        textOf(type, ''),
        textOf(reason, ''),
        `${textOf(kind, '').toLowerCase()}/${textOf(name, '')}`,
        textOf(message, '').trim(),
      ];
    },
  },
  nodes: {
    columns: [
      ...[NAME, ...['Status', 'Roles'].map((name) => ({ name })), AGE, { name: 'Version' }],
      ...['Internal-IP', 'External-IP', 'OS-Image', 'Kernel-Version', 'Container-Runtime'].map((name) => ({
        name,
        isWide: true,
      })),
    ],
    cells: nodeCells,
  },
};

const ROLE = 'node-role.kubernetes.io/';

function nodeCells(object: ApiObject, now: number): readonly (string | number)[] {
  const { conditions, addresses, nodeInfo } = mapOf(object.status);
  const list = (value: unknown) => (Array.isArray(value) ? value.filter(isMap) : []);
  const ready = list(conditions).find(({ type }) => type === 'Ready')?.['status'];
  const address = (type: string) => textOf(list(addresses).find((one) => one['type'] === type)?.['address']);
  const roles = Object.keys(object.metadata.labels ?? {}).flatMap((key) =>
    key.startsWith(ROLE) ? [key.slice(ROLE.length)] : [],
  );
  const status = ready === undefined ? 'Unknown' : ready === 'True' ? 'Ready' : 'NotReady';
  const isClosed = mapOf(object.spec)['unschedulable'] === true;
  const info = mapOf(nodeInfo);
  return [
    ...[
      object.metadata.name,
      `${status}${isClosed ? ',SchedulingDisabled' : ''}`,
      roles.join(',') || '<none>',
      ageOf(object, now),
    ],
    ...[textOf(info['kubeletVersion']), address('InternalIP'), address('ExternalIP'), textOf(info['osImage'])],
    ...[textOf(info['kernelVersion']), textOf(info['containerRuntimeVersion'])],
  ];
}
