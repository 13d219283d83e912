/** The conditions of a node: their state, since when, and the events of their changes. */
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
  /** Conditions that the reference does not have, such as the state of the serving certificate. */
  readonly others?: readonly OtherCondition[];
}

export interface OtherCondition {
  readonly type: string;
  readonly isTrue: boolean;
  readonly reason: string;
  readonly message: string;
}

export interface ConditionsAnswer {
  /** Those of others first, in their order. Ready is last in a new node, as old clients expect. */
  readonly conditions: readonly NodeCondition[];
  /** Reasons of events, in order. */
  readonly events: readonly string[];
}

interface PressureTexts {
  readonly type: string;
  readonly of: keyof Pressure;
  readonly under: { readonly reason: string; readonly message: string; readonly event: string };
  readonly free: { readonly reason: string; readonly message: string; readonly event: string };
}

const PRESSURES: readonly PressureTexts[] = [
  {
    type: 'MemoryPressure',
    of: 'memory',
    under: texts('HasInsufficientMemory', 'has insufficient memory available'),
    free: texts('HasSufficientMemory', 'has sufficient memory available'),
  },
  {
    type: 'DiskPressure',
    of: 'disk',
    under: texts('HasDiskPressure', 'has disk pressure'),
    free: texts('HasNoDiskPressure', 'has no disk pressure'),
  },
  {
    type: 'PIDPressure',
    of: 'pid',
    under: texts('HasInsufficientPID', 'has insufficient PID available'),
    free: texts('HasSufficientPID', 'has sufficient PID available'),
  },
];

function texts(name: string, text: string): PressureTexts['under'] {
  return { reason: `Kubelet${name}`, message: `kubelet ${text}`, event: `Node${name}` };
}

export function computeConditions(known: readonly NodeCondition[], input: ConditionsInput): ConditionsAnswer {
  const now = formatTimestamp(input.now);
  const pressures = PRESSURES.map((each) => pressureCondition(each, known, input.pressure[each.of], now));
  const ready = readyCondition(known, input.readinessProblem, now);
  const others = (input.others ?? []).map((other) => otherCondition(other, known, now));
  const own = [...others, ...pressures, ready];
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
  { type, under, free }: PressureTexts,
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

function otherCondition(
  { type, isTrue, reason, message }: OtherCondition,
  known: readonly NodeCondition[],
  now: string,
): OneCondition {
  const status: ConditionStatus = isTrue ? 'True' : 'False';
  const before = known.find((condition) => condition.type === type);
  const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? now) : now;
  // The part that knows the condition reports its events itself.
  return { condition: { type, status, lastHeartbeatTime: now, lastTransitionTime, reason, message }, event: undefined };
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
    // The event of a node that starts as ready is recorded after its registration: see register.ts.
    event: before === undefined || isSame ? undefined : problem === undefined ? 'NodeReady' : 'NodeNotReady',
  };
}
