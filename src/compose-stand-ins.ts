/** The smallest honest parts behind the ports of neighbours that are not here yet. Each goes when the real one comes. */
import { mkdir, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogsPort } from './act/ports.ts';
import type { Pod } from './api/pod.ts';
import { containerLogPath } from './runtime/spec/container.ts';
import { podLogDirectory } from './runtime/spec/sandbox.ts';

export function standInLogs(podLogs: string, containerLogs: string): LogsPort {
  const folder = (pod: Pod) => podLogDirectory(podLogs, pod);
  return {
    ensurePod: async (pod) => {
      await mkdir(folder(pod), { recursive: true, mode: 0o755 });
    },
    ensureContainer: async (pod, name) => {
      await mkdir(join(folder(pod), name), { recursive: true, mode: 0o755 });
    },
    link: async (pod, name, id, attempt) => {
      const link = join(containerLogs, `${pod.metadata.name}_${pod.metadata.namespace}_${name}-${id}.log`);
      await symlink(join(folder(pod), containerLogPath(name, attempt)), link);
    },
    removePod: async ({ uid }) => {
      for (const name of await readdir(containerLogs)) {
        const target = await readlink(join(containerLogs, name)).catch(() => '');
        if (target.includes(`_${uid}/`)) await rm(join(containerLogs, name), { force: true });
      }
      const folders = (await readdir(podLogs)).filter((name) => name.endsWith(`_${uid}`));
      for (const name of folders) await rm(join(podLogs, name), { recursive: true, force: true });
    },
  };
}
