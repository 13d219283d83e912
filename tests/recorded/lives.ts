/**
 * The recorded lives of pods under the reference kubelet (pods/*.json), and its calls to the runtime as wire messages.
 * `$ROOT` and `$LOGS` in them stand for the kubelet's root directory and the directory of pod logs.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pod } from '../../src/api/pod.ts';
import type { PodStatus } from '../../src/api/pod-status.ts';
import { type AnyMessage, type Field, Kind, type MessageType, Shape } from '../../src/wire/message.ts';

export interface RecordedCall {
  /** Since the pod was created. */
  readonly ms: number;
  readonly took: number;
  readonly call: string;
  readonly req: Readonly<Record<string, unknown>>;
  readonly res?: Readonly<Record<string, unknown>>;
  readonly error?: string;
}

export interface RecordedEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly fieldPath?: string;
  readonly count?: number;
}

/** What was seen from inside a container. */
export interface RecordedInside {
  readonly hosts: string;
  readonly resolv: string;
  readonly hostname: string;
  readonly env: readonly string[];
  readonly id: string;
  /** Root, mount point, options and type, in the order of the mount table. */
  readonly mounts: readonly string[];
  /** Path, mode and owner of what is below the mounted volumes. */
  readonly volumes: string | null;
}

/** Path below the directory (absent for the directory itself), kind, mode, and for the pod's directory owner and link target. */
export type RecordedFile = readonly string[];

export interface RecordedLife {
  readonly name: string;
  readonly pod: Pod;
  readonly cri: readonly RecordedCall[];
  readonly statuses: readonly {
    readonly ms: number;
    readonly type: string;
    readonly deleting?: boolean;
    readonly status: PodStatus;
  }[];
  readonly events: readonly RecordedEvent[];
  /** Values of files by cgroup path: of the pod and of its containers. */
  readonly cgroups: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly inside: Readonly<Record<string, RecordedInside>>;
  readonly files: readonly RecordedFile[] | null;
  readonly logs: readonly RecordedFile[] | null;
  readonly deleted_at_ms: number;
}

const directory = join(import.meta.dirname, 'pods');

export function lifeNames(): readonly string[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .sort();
}

export function loadLife(name: string): RecordedLife {
  const recorded = JSON.parse(readFileSync(join(directory, `${name}.json`), 'utf8'));
  return { ...recorded, name };
}

export function loadLives(): readonly RecordedLife[] {
  return lifeNames().map(loadLife);
}

/** A recorded request as the message that went over the wire: complete, as `decode` would give it. */
export function recordedMessage<T>(type: MessageType<T>, json: unknown): T {
  return toMessage(type, json, type.name) as T;
}

function toMessage(type: AnyMessage, json: unknown, path: string): unknown {
  const message: Record<string, unknown> = { ...(type.zero() as Record<string, unknown>) };
  for (const [key, value] of Object.entries(json as Record<string, unknown>)) {
    const name = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const field = type.fields.find((candidate) => candidate.name === name);
    if (field === undefined) throw new Error(`${path}.${key}: our schema has no such field`);
    message[name] = toField(field, value, `${path}.${key}`);
  }
  return message;
}

function toField(field: Field, value: unknown, path: string): unknown {
  if (field.shape === Shape.list) {
    return (value as readonly unknown[]).map((item, index) => toValue(field, item, `${path}[${index}]`));
  }
  if (field.shape === Shape.map) {
    const entries = Object.entries(value as Record<string, unknown>);
    return Object.fromEntries(entries.map(([key, item]) => [key, toValue(field, item, `${path}.${key}`)]));
  }
  return toValue(field, value, path);
}

function toValue(field: Field, value: unknown, path: string): unknown {
  switch (field.kind) {
    case Kind.message:
      return field.message === undefined ? undefined : toMessage(field.message(), value, path);
    case Kind.enum:
      return field.enumType?.[String(value)];
    case Kind.bytes:
      return new TextEncoder().encode(String(value));
    case Kind.int64:
    case Kind.uint64:
      return BigInt(String(value));
    case Kind.string:
    case Kind.bool:
      return value;
    default:
      return Number(value);
  }
}
