/** When containerd was asked for a container, by its own log: nothing stands between it and the kubelet. */
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LabNode } from '../../tests/lab/lab.ts';

export interface RequestLog {
  /** Milliseconds since 1970 of the first request for a container in this sandbox; undefined while there is none. */
  firstIn(sandboxId: string): Promise<number | undefined>;
}

/** Of what is logged from now on. */
export async function followRequests({ world }: LabNode): Promise<RequestLog> {
  const path = join(world.logsDirectory, 'containerd.log');
  const { size: from } = await stat(path);
  return {
    firstIn: async (sandboxId) => {
      const file = await open(path, 'r');
      try {
        const { size } = await file.stat();
        const bytes = Buffer.alloc(Math.max(size - from, 0));
        const { bytesRead } = await file.read(bytes, 0, bytes.length, from);
        return requestTime(bytes.toString('utf8', 0, bytesRead), sandboxId);
      } finally {
        await file.close();
      }
    },
  };
}

/** containerd logs a request as it comes in, before it does anything about it. */
export function requestTime(log: string, sandboxId: string): number | undefined {
  const request = `msg="CreateContainer within sandbox \\"${sandboxId}\\" for container `;
  const line = log.split('\n').find((text) => text.includes(request));
  if (line === undefined) return undefined;
  const time = Date.parse(/^time="([^"]*)"/.exec(line)?.[1] ?? '');
  if (Number.isNaN(time)) throw new Error(`a line of containerd's log begins with no time: ${line}`);
  return time;
}
