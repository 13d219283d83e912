/**
 * Settings that are accepted and have no effect, or less than their name says. Each is reported once at the start if it differs from
 * its default; without-effect.test.ts proves that the tables are complete and that no code reads what they list.
 */
import type { Flag } from './flags/flag.ts';
import { MASKED } from './rules/diff.ts';
import { type Finding, warning } from './rules/finding.ts';
import { applyDefaults, applyFileDefaults } from './schema/defaults.ts';
import type { KubeletConfiguration } from './schema/kubelet-configuration.ts';
import { defaultSettings, type Settings } from './settings.ts';

const PROFILE = 'Node.js has no such profile';
const CADVISOR_PAGE = 'KUBELET_TS_PAGE says where the page is served';
const CADVISOR_PARTS = 'that part of cAdvisor is not built yet';
const NOT_SEARCHED = 'containers are known from the runtime, not searched for';
const UNUSED = 'it has no effect in the reference either';
const GONE = 'it is gone from the reference';

/** Fields of the configuration file, by path; also the fields below a path. */
export const fieldsWithoutEffect: Readonly<Record<string, string>> = {
  enableContentionProfiling: PROFILE,
  contentType: 'JSON is spoken with the API server',
  volumePluginDir: 'FlexVolume drivers are not built yet',
  tracing: 'tracing is not built yet',
};

/** Fields that are read, but have less effect than their name says. */
export const fieldsWithLessEffect: Readonly<Record<string, string>> = {
  hairpinMode: 'only in the network of --network-plugin=kubenet',
};

/** Settings of the command line, by path in `Settings`. */
export const settingsWithoutEffect: Readonly<Record<string, string>> = {
  'sources.dynamicConfigDir': 'dynamic configuration is not built yet',
  'cloud.configFile': GONE,
  'containers.runtime': 'there are only remote runtimes',
  'containers.mounterPath': 'a mounter of its own is not built yet',
  'cadvisor.port': CADVISOR_PAGE,
  'cadvisor.bindAddress': CADVISOR_PAGE,
  'cadvisor.globalHousekeepingInterval': NOT_SEARCHED,
  'cadvisor.applicationMetricsCountLimit': CADVISOR_PARTS,
  'cadvisor.containerHints': NOT_SEARCHED,
  'cadvisor.containerd': NOT_SEARCHED,
  'cadvisor.containerdNamespace': NOT_SEARCHED,
  'cadvisor.enableLoadReader': CADVISOR_PARTS,
  'cadvisor.eventStorageAgeLimit': CADVISOR_PARTS,
  'cadvisor.eventStorageEventLimit': CADVISOR_PARTS,
  'cadvisor.logUsage': CADVISOR_PARTS,
  'cadvisor.storage': UNUSED,
};

/** Settings that are read only to explain what is not built. */
export const settingsOnlyExplained: Readonly<Record<string, string>> = {};

export type Configured = { readonly kubelet: KubeletConfiguration; readonly settings: Settings };

/** One warning for each of them that differs from its default. */
export function findWithoutEffect({ kubelet, settings }: Configured, flags: readonly Flag[]): readonly Finding[] {
  const [withoutFile, withFile] = [applyDefaults({}), applyFileDefaults({})];
  const rules = [
    ...Object.entries(fieldsWithoutEffect).map(([path, reason]) => [path, `has no effect: ${reason}`] as const),
    ...Object.entries(fieldsWithLessEffect).map(([path, rule]) => [path, `takes effect in part: ${rule}`] as const),
  ];
  const fields = rules
    .filter(([path]) => !isSame(path, kubelet, withoutFile) && !isSame(path, kubelet, withFile))
    .map(([path, rule]) => warning(path, valueAt(kubelet, path), rule));
  const reasons = { ...settingsWithoutEffect, ...settingsOnlyExplained };
  const given = flags.flatMap(({ of, path, name }) => {
    const reason = of === 'settings' ? lookUp(reasons, path) : undefined;
    if (reason === undefined || isSame(path, settings, defaultSettings)) return [];
    return [warning(`--${name}`, isSecret(path) ? MASKED : valueAt(settings, path), `has no effect: ${reason}`)];
  });
  return [...fields, ...given];
}

const isSecret = (path: string): boolean => path.endsWith('.password');

/** Finds the path itself or a parent. */
export function lookUp(table: Readonly<Record<string, string>>, path: string): string | undefined {
  const holder = Object.keys(table).find((one) => path === one || path.startsWith(`${one}.`));
  return holder === undefined ? undefined : table[holder];
}

/** Both come from the same table, so their fields are in the same order. */
function isSame(path: string, one: object, other: object): boolean {
  return JSON.stringify(valueAt(one, path)) === JSON.stringify(valueAt(other, path));
}

function valueAt(tree: object, path: string): unknown {
  return path.split('.').reduce<unknown>((at, name) => Object(at)[name], tree);
}
