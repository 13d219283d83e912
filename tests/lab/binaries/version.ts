/** Version numbers of Go, etcd and Kubernetes, as far as "is it new enough" needs them. */
export type Version = readonly [number, number, number];

/** The first version number in a text such as `go1.26.8`, `etcd Version: 3.6.8` or `Kubernetes v1.36.4`. */
export function parseVersion(text: string): Version | undefined {
  const match = /(?<![\d.])(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  if (match === null) return undefined;
  return [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
}

export function isAtLeast(have: Version, need: Version): boolean {
  const [major, minor, patch] = [have[0] - need[0], have[1] - need[1], have[2] - need[2]];
  return (major || minor || patch) >= 0;
}

export function formatVersion(version: Version): string {
  return version.join('.');
}
