/** The conditions of a node: what is true now, since when, and what is said about it when it changes. */
import type { ConditionStatus, NodeCondition } from '../../api/node.ts';
import { formatTimestamp } from '../../api/timestamp.ts';

export interface Pressure {
  readonly memory: boolean;
  readonly disk: boolean;
  readonly pid: boolean;
}

export interface ConditionsInput {
  readonly now: number;
  readonly pressure: Pressure;
  /** Undefined: ready. */
  readonly readinessProblem: string | undefined;
}

export interface ConditionsAnswer {
  /** Those of others first, in their places. Ready comes last in a new node, as old readers expect. */
  readonly conditions: readonly NodeCondition[];
  /** Reasons of events, in their order. */
  readonly events: readonly string[];
}

interface PressureWords {
  readonly type: string;
  readonly of: keyof Pressure;
  readonly under: { readonly reason: string; readonly message: string; readonly event: string };
  readonly free: { readonly reason: string; readonly message: string; readonly event: string };
}

const PRESSURES: readonly PressureWords[] = [
  {
    type: 'MemoryPressure',
    of: 'memory',
    under: words('HasInsufficientMemory', 'has insufficient memory available'),
    free: words('HasSufficientMemory', 'has sufficient memory available'),
  },
  {
    type: 'DiskPressure',
    of: 'disk',
    under: words('HasDiskPressure', 'has disk pressure'),
    free: words('HasNoDiskPressure', 'has no disk pressure'),
  },
  {
    type: 'PIDPressure',
    of: 'pid',
    under: words('HasInsufficientPID', 'has insufficient PID available'),
    free: words('HasSufficientPID', 'has sufficient PID available'),
  },
];

function words(name: string, text: string): PressureWords['under'] {
  return { reason: `Kubelet${name}`, message: `kubelet ${text}`, event: `Node${name}` };
}

export function computeConditions(known: readonly NodeCondition[], input: ConditionsInput): ConditionsAnswer {
  const now = formatTimestamp(input.now);
  const pressures = PRESSURES.map((each) => pressureCondition(each, known, input.pressure[each.of], now));
  const ready = readyCondition(known, input.readinessProblem, now);
  const own = [...pressures, ready];
  const byType = new Map(own.map(({ condition }) => [condition.type, condition]));
  const kept = known.map((condition) => byType.get(condition.type) ?? condition);
  const fresh = own.map(({ condition }) => condition).filter(({ type }) => !known.some((each) => each.type === type));
  return { conditions: [...kept, ...fresh], events: own.flatMap(({ event }) => event ?? []) };
}

interface OneCondition {
  readonly condition: NodeCondition;
  readonly event: string | undefined;
}

function pressureCondition(
  { type, under, free }: PressureWords,
  known: readonly NodeCondition[],
  isUnder: boolean,
  now: string,
): OneCondition {
  const status: ConditionStatus = isUnder ? 'True' : 'False';
  const before = known.find((condition) => condition.type === type);
  if (before?.status === status) return { condition: { ...before, lastHeartbeatTime: now }, event: undefined };
  const { reason, message, event } = isUnder ? under : free;
  return { condition: { type, status, lastHeartbeatTime: now, lastTransitionTime: now, reason, message }, event };
}

function readyCondition(known: readonly NodeCondition[], problem: string | undefined, now: string): OneCondition {
  const before = known.find(({ type }) => type === 'Ready');
  const status: ConditionStatus = problem === undefined ? 'True' : 'False';
  const isSame = before?.status === status;
  return {
    condition: {
      type: 'Ready',
      status,
      lastHeartbeatTime: now,
      lastTransitionTime: isSame ? (before.lastTransitionTime ?? now) : now,
      reason: problem === undefined ? 'KubeletReady' : 'KubeletNotReady',
      message: problem ?? 'kubelet is posting ready status',
    },
    // A node that begins as ready is told of when the API server has it: see register.ts.
    event: before === undefined || isSame ? undefined : problem === undefined ? 'NodeReady' : 'NodeNotReady',
  };
}
