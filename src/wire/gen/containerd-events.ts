// Made from proto/containerd-events.proto by tools/generate-wire.ts. Do not edit.
// The events themselves, as they come inside an Envelope. TaskCreate.rootfs is left out: no one here reads it. Facts (names, numbers, types) only; see README.md in this directory for the dialect.
import { Kind, message, NO_ENTRIES, Shape, type MessageType } from '../message.ts';
import { Any, Timestamp } from './google-protobuf.ts';

export interface TaskCreate {
  readonly containerId: string;
  readonly bundle: string;
  readonly io: TaskIO | undefined;
  readonly checkpoint: string;
  readonly pid: number;
}
export const TaskCreate: MessageType<TaskCreate> = message('containerd.events.TaskCreate', () => ({ containerId: '', bundle: '', io: undefined, checkpoint: '', pid: 0 }), [
  [1, 'containerId', Kind.string],
  [2, 'bundle', Kind.string],
  [4, 'io', () => TaskIO],
  [5, 'checkpoint', Kind.string],
  [6, 'pid', Kind.uint32],
]);

export interface TaskStart {
  readonly containerId: string;
  readonly pid: number;
}
export const TaskStart: MessageType<TaskStart> = message('containerd.events.TaskStart', () => ({ containerId: '', pid: 0 }), [
  [1, 'containerId', Kind.string],
  [2, 'pid', Kind.uint32],
]);

export interface TaskDelete {
  readonly containerId: string;
  readonly pid: number;
  readonly exitStatus: number;
  readonly exitedAt: Timestamp | undefined;
  /** As in TaskExit. */
  readonly id: string;
}
export const TaskDelete: MessageType<TaskDelete> = message('containerd.events.TaskDelete', () => ({ containerId: '', pid: 0, exitStatus: 0, exitedAt: undefined, id: '' }), [
  [1, 'containerId', Kind.string],
  [2, 'pid', Kind.uint32],
  [3, 'exitStatus', Kind.uint32],
  [4, 'exitedAt', () => Timestamp],
  [5, 'id', Kind.string],
]);

export interface TaskIO {
  readonly stdin: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly terminal: boolean;
}
export const TaskIO: MessageType<TaskIO> = message('containerd.events.TaskIO', () => ({ stdin: '', stdout: '', stderr: '', terminal: false }), [
  [1, 'stdin', Kind.string],
  [2, 'stdout', Kind.string],
  [3, 'stderr', Kind.string],
  [4, 'terminal', Kind.bool],
]);

export interface TaskExit {
  readonly containerId: string;
  /** The process: the container itself where it equals container_id, else an exec in it. */
  readonly id: string;
  readonly pid: number;
  readonly exitStatus: number;
  readonly exitedAt: Timestamp | undefined;
}
export const TaskExit: MessageType<TaskExit> = message('containerd.events.TaskExit', () => ({ containerId: '', id: '', pid: 0, exitStatus: 0, exitedAt: undefined }), [
  [1, 'containerId', Kind.string],
  [2, 'id', Kind.string],
  [3, 'pid', Kind.uint32],
  [4, 'exitStatus', Kind.uint32],
  [5, 'exitedAt', () => Timestamp],
]);

export interface TaskOOM {
  readonly containerId: string;
}
export const TaskOOM: MessageType<TaskOOM> = message('containerd.events.TaskOOM', () => ({ containerId: '' }), [
  [1, 'containerId', Kind.string],
]);

export interface TaskExecAdded {
  readonly containerId: string;
  readonly execId: string;
}
export const TaskExecAdded: MessageType<TaskExecAdded> = message('containerd.events.TaskExecAdded', () => ({ containerId: '', execId: '' }), [
  [1, 'containerId', Kind.string],
  [2, 'execId', Kind.string],
]);

export interface TaskExecStarted {
  readonly containerId: string;
  readonly execId: string;
  readonly pid: number;
}
export const TaskExecStarted: MessageType<TaskExecStarted> = message('containerd.events.TaskExecStarted', () => ({ containerId: '', execId: '', pid: 0 }), [
  [1, 'containerId', Kind.string],
  [2, 'execId', Kind.string],
  [3, 'pid', Kind.uint32],
]);

export interface TaskPaused {
  readonly containerId: string;
}
export const TaskPaused: MessageType<TaskPaused> = message('containerd.events.TaskPaused', () => ({ containerId: '' }), [
  [1, 'containerId', Kind.string],
]);

export interface TaskResumed {
  readonly containerId: string;
}
export const TaskResumed: MessageType<TaskResumed> = message('containerd.events.TaskResumed', () => ({ containerId: '' }), [
  [1, 'containerId', Kind.string],
]);

export interface TaskCheckpointed {
  readonly containerId: string;
  readonly checkpoint: string;
}
export const TaskCheckpointed: MessageType<TaskCheckpointed> = message('containerd.events.TaskCheckpointed', () => ({ containerId: '', checkpoint: '' }), [
  [1, 'containerId', Kind.string],
  [2, 'checkpoint', Kind.string],
]);

export interface ContainerCreate {
  readonly id: string;
  readonly image: string;
  readonly runtime: ContainerCreateRuntime | undefined;
}
export const ContainerCreate: MessageType<ContainerCreate> = message('containerd.events.ContainerCreate', () => ({ id: '', image: '', runtime: undefined }), [
  [1, 'id', Kind.string],
  [2, 'image', Kind.string],
  [3, 'runtime', () => ContainerCreateRuntime],
]);

export interface ContainerCreateRuntime {
  readonly name: string;
  readonly options: Any | undefined;
}
export const ContainerCreateRuntime: MessageType<ContainerCreateRuntime> = message('containerd.events.ContainerCreate.Runtime', () => ({ name: '', options: undefined }), [
  [1, 'name', Kind.string],
  [2, 'options', () => Any],
]);

export interface ContainerUpdate {
  readonly id: string;
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly snapshotKey: string;
}
export const ContainerUpdate: MessageType<ContainerUpdate> = message('containerd.events.ContainerUpdate', () => ({ id: '', image: '', labels: NO_ENTRIES, snapshotKey: '' }), [
  [1, 'id', Kind.string],
  [2, 'image', Kind.string],
  [3, 'labels', Kind.string, Shape.map],
  [4, 'snapshotKey', Kind.string],
]);

export interface ContainerDelete {
  readonly id: string;
}
export const ContainerDelete: MessageType<ContainerDelete> = message('containerd.events.ContainerDelete', () => ({ id: '' }), [
  [1, 'id', Kind.string],
]);

export interface SandboxCreate {
  readonly sandboxId: string;
}
export const SandboxCreate: MessageType<SandboxCreate> = message('containerd.events.SandboxCreate', () => ({ sandboxId: '' }), [
  [1, 'sandboxId', Kind.string],
]);

export interface SandboxStart {
  readonly sandboxId: string;
}
export const SandboxStart: MessageType<SandboxStart> = message('containerd.events.SandboxStart', () => ({ sandboxId: '' }), [
  [1, 'sandboxId', Kind.string],
]);

export interface SandboxExit {
  readonly sandboxId: string;
  readonly exitStatus: number;
  readonly exitedAt: Timestamp | undefined;
}
export const SandboxExit: MessageType<SandboxExit> = message('containerd.events.SandboxExit', () => ({ sandboxId: '', exitStatus: 0, exitedAt: undefined }), [
  [1, 'sandboxId', Kind.string],
  [2, 'exitStatus', Kind.uint32],
  [3, 'exitedAt', () => Timestamp],
]);
