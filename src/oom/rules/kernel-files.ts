/** The kernel's files about one cgroup or process, as far as the OOM watcher reads them. */

/** `oom_kill 3` in `memory.oom_control` or `memory.events.local`. */
export function parseOomKills(text: string | undefined): number | undefined {
  const kills = /^oom_kill (\d{1,15})$/m.exec(text ?? '')?.[1];
  return kills === undefined ? undefined : Number(kills);
}

/** The path in `/proc/PID/cgroup` of the hierarchy that counts memory, or of the only one. */
export function parseMemoryCgroup(text: string | undefined): string | undefined {
  const lines = (text ?? '').split('\n');
  const found =
    lines.find((line) => /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:/.test(line)) ??
    lines.find((line) => line.startsWith('0::'));
  return found?.replace(/^[^:]*:[^:]*:/, '').replace(/ \(deleted\)$/, '');
}
