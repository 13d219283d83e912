/** The statuses that the kubelet has told in its log, without an API server the only place where every one of them shows. */
import { open } from 'node:fs/promises';
import type { PodStatus } from '../../src/api/pod-status.ts';

export interface ToldStatus {
  /** Without the node's name. */
  readonly pod: string;
  readonly status: PodStatus;
}

const TOLD = /"Pod status changed" pod="default\/(\S+)-node" .* status=(\{.*\})$/;

export function parseStatuses(log: string): readonly ToldStatus[] {
  return log.split('\n').flatMap((line) => {
    const [, pod, status] = TOLD.exec(line) ?? [];
    return pod === undefined || status === undefined ? [] : [{ pod, status: JSON.parse(status) as PodStatus }];
  });
}

export function isReady({ conditions = [] }: PodStatus): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

/** Reads a file that grows, from where it stopped before. */
export function createTail(path: string): { fresh(): Promise<string> } {
  let at = 0;
  return {
    fresh: async () => {
      await using file = await open(path, 'r');
      const { size } = await file.stat();
      const { buffer, bytesRead } = await file.read(
        Buffer.alloc(Math.max(size - at, 0)),
        0,
        Math.max(size - at, 0),
        at,
      );
      // Only whole lines: the rest is still being written.
      const end = buffer.subarray(0, bytesRead).lastIndexOf('\n') + 1;
      at += end;
      return buffer.subarray(0, end).toString('utf8');
    },
  };
}
