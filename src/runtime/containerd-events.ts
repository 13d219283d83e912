/**
 * containerd's own event service, on the same socket as CRI. It is there on every version, also where CRI has no events
 * (before 1.7), and it is early: `/tasks/exit` comes when the process is gone, some 50 ms before the runtime has cleared the
 * container away and ContainerStatus says so. Only ends are asked for; containerd filters the rest.
 */
import { CodedError } from '../base/errors.ts';
import { decode } from '../wire/decode.ts';
import { TaskDelete, TaskExit } from '../wire/gen/containerd-events.ts';
import { Events } from '../wire/gen/containerd-events-service-v1.ts';
import type { Envelope } from '../wire/gen/containerd-types.ts';
import type { Any, Timestamp } from '../wire/gen/google-protobuf.ts';
import type { GrpcClient } from '../wire/grpc-client.ts';
import type { MessageType } from '../wire/message.ts';

/** What CRI keeps its containers under. */
const NAMESPACE = 'k8s.io';

export type ContainerdEventKind = 'exited' | 'deleted';

export interface ContainerdEvent {
  readonly kind: ContainerdEventKind;
  /** Of a container, or of a sandbox: containerd runs both as tasks. */
  readonly containerId: string;
  /** Set if it was not the container itself but a command run in it. */
  readonly execId: string | undefined;
  /** When the process ended: nanoseconds since 1970, by containerd's clock. */
  readonly at: bigint;
  /** Of `exited` only. */
  readonly exitStatus: number | undefined;
}

export interface ContainerdEvents {
  /** Reads until `signal` aborts or the stream ends. `onEvent` must not wait for anything. */
  watch(onEvent: (event: ContainerdEvent) => void, signal: AbortSignal): Promise<void>;
}

export function createContainerdEvents(grpc: GrpcClient): ContainerdEvents {
  return {
    watch: (onEvent, signal) =>
      grpc.serverStream(
        Events.subscribe,
        { filters: TOPICS.map((topic) => `namespace==${NAMESPACE},topic=="${topic}"`) },
        {
          signal,
          onMessage: (envelope) => {
            const event = readEnvelope(envelope);
            if (event !== undefined) onEvent(event);
          },
        },
      ),
  };
}

interface TaskEvent {
  readonly containerId: string;
  readonly id?: string;
  readonly exitStatus?: number;
  readonly exitedAt?: Timestamp | undefined;
}

interface EventReader {
  readonly topic: string;
  readonly kind: ContainerdEventKind;
  readonly read: (bytes: Uint8Array) => TaskEvent;
}

function task<T extends TaskEvent>(
  topic: string,
  kind: ContainerdEventKind,
  type: MessageType<T>,
): [string, EventReader] {
  return [type.name, { topic, kind, read: (bytes) => decode(type, bytes) }];
}

const READERS: ReadonlyMap<string, EventReader> = new Map([
  task('/tasks/exit', 'exited', TaskExit),
  task('/tasks/delete', 'deleted', TaskDelete),
]);

const TOPICS = [...READERS.values()].map(({ topic }) => topic);

/** Undefined for events that no one here asked for. */
export function readEnvelope({ event, timestamp }: Envelope): ContainerdEvent | undefined {
  const reader = READERS.get(typeName(event));
  if (event === undefined || reader === undefined) return undefined;
  const { containerId, id, exitStatus, exitedAt } = reader.read(event.value);
  if (containerId === '') throw new CodedError('invalid', `${event.typeUrl}: an event without a container id`);
  return {
    kind: reader.kind,
    containerId,
    execId: id === undefined || id === '' || id === containerId ? undefined : id,
    at: nanoseconds(exitedAt ?? timestamp),
    exitStatus: reader.kind === 'exited' ? exitStatus : undefined,
  };
}

function typeName(event: Any | undefined): string {
  return event?.typeUrl.slice(event.typeUrl.lastIndexOf('/') + 1) ?? '';
}

function nanoseconds(time: Timestamp | undefined): bigint {
  return time === undefined ? 0n : BigInt(time.seconds) * 1_000_000_000n + BigInt(time.nanos);
}
