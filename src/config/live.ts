/** Which fields a running kubelet can change (`live` in the schema), and the configuration that is in force after a reload. */
import type { Config } from './config.ts';
import type { Kind, StructKind } from './schema/kinds.ts';
import { type KubeletConfiguration, kubeletConfiguration } from './schema/kubelet-configuration.ts';

/** `path` as in the configuration file; a part of a list or map counts as the field that has it. */
export function isLiveField(path: string): boolean {
  let type: Kind = kubeletConfiguration;
  for (const name of path.split(/[.[]/)) {
    if (type.kind !== 'struct') return false;
    const field: StructKind['fields'][string] | undefined = type.fields[name];
    if (field === undefined) return false;
    if (field.live) return true;
    type = field.type;
  }
  return false;
}

/** The running configuration with the live fields of the fresh one. Everything else waits for the next start, all of it. */
export function withLiveFields(running: Config, fresh: Config): Config {
  const kubelet = mergeLive(kubeletConfiguration, running.kubelet, fresh.kubelet) as KubeletConfiguration;
  const origins = { of: (path: string) => (isLiveField(path) ? fresh : running).origins.of(path) };
  return Object.freeze({ ...running, kubelet: Object.freeze(kubelet), origins: Object.freeze(origins) });
}

function mergeLive(type: StructKind, running: object, fresh: object): object {
  const [before, after] = [running, fresh] as [Record<string, unknown>, Record<string, unknown>];
  const fields = Object.entries(type.fields).map(([name, field]) => {
    if (field.live) return [name, after[name]];
    const isStruct = field.type.kind === 'struct' && before[name] !== undefined && after[name] !== undefined;
    if (!isStruct) return [name, before[name]];
    return [name, mergeLive(field.type as StructKind, Object(before[name]), Object(after[name]))];
  });
  return Object.fromEntries(fields);
}
