import { deepFreeze } from './deep-freeze.ts';
import { type Features, resolveFeatures } from './features/features.ts';
import { completeConfiguration } from './file/complete.ts';
import { type DecodedConfiguration, decodeKubeletConfiguration } from './file/decode.ts';
import { formatFileProblem } from './file/report.ts';
import { renderHelp } from './flags/help.ts';
import { type CommandLine, parseCommandLine } from './flags/parse.ts';
import { flagTable } from './flags/table.ts';
import { type Configurable, noRequest } from './flags/target.ts';
import { isLiveField } from './live.ts';
import { createOrigins, formatProblem, type Origins } from './origins.ts';
import { type Change, diffKubeletConfigurations, MASKED } from './rules/diff.ts';
import { decideListening, type ListenDecision } from './rules/listen.ts';
import { checkNodeLabels } from './rules/node-labels.ts';
import { validateConfig } from './rules/validate.ts';
import type { MachineFacts } from './rules/validation-input.ts';
import { renderConfigz as renderKubeletConfigz } from './schema/configz.ts';
import { applyDefaults, flagEraDefaults } from './schema/defaults.ts';
import type { Kind } from './schema/kinds.ts';
import { type KubeletConfiguration, kubeletConfiguration } from './schema/kubelet-configuration.ts';
import { defaultSettings, type Settings } from './settings.ts';
import { applyOldSettings, settleSettings } from './settings-layers.ts';
import { type FileReader, readSources } from './sources.ts';
import { type BuildFacts, renderRawVersion, renderVersion } from './version.ts';
import { findWithoutEffect } from './without-effect.ts';

/** The whole configuration of the kubelet, complete and deeply frozen. */
export type Config = {
  readonly kubelet: KubeletConfiguration;
  /** Settings that the configuration file does not have. */
  readonly settings: Settings;
  readonly features: Features;
  readonly listen: ListenDecision;
  readonly origins: Origins;
  /** The values of the flags after the command line, as `/flagz` shows them. */
  flagValues(): readonly { readonly name: string; readonly value: string }[];
};

export type ConfigOutcome =
  | { readonly kind: 'print'; readonly text: string }
  | {
      readonly kind: 'refused';
      readonly problems: readonly string[];
      readonly warnings: readonly string[];
      /** What to do about it; may be empty. */
      readonly hint: string;
    }
  | { readonly kind: 'ready'; readonly config: Config; readonly warnings: readonly string[] };

export type ConfigEnvironment = FileReader & {
  /** Columns of the terminal that the help is wrapped to. Called only to print the help: the size of the terminal loads Node's streams. */
  readonly terminalWidth: () => number;
  readonly build: BuildFacts;
  /** Called only after the configuration is read. */
  machine(): MachineFacts;
  /** Dynamic configuration: overrides file and drop-ins, flags override it. */
  readonly overlay?: (fromFiles: KubeletConfiguration) => KubeletConfiguration;
};

/** What every flag is without a command line and a file. */
export const defaultConfigurable = (): Configurable => ({
  kubelet: applyDefaults(flagEraDefaults),
  settings: defaultSettings,
  request: noRequest,
});

/** Reads the complete configuration for these arguments. Called again, with the same arguments, on SIGHUP. */
export function readConfig(args: readonly string[], environment: ConfigEnvironment): ConfigOutcome {
  const commandLine = parseCommandLine(args, flagTable);
  const base = defaultConfigurable();
  const parsed = commandLine.apply(base);
  if (parsed.request.help) return { kind: 'print', text: renderHelp(flagTable, base, environment.terminalWidth()) };
  if (commandLine.problems.length > 0) {
    const { problems, warnings } = commandLine;
    return { kind: 'refused', problems, warnings, hint: "Run 'kubelet --help' for the list of flags." };
  }
  const { version } = parsed.request;
  const { reportedVersion } = parsed.settings.node;
  if (version === 'true') return { kind: 'print', text: renderVersion(reportedVersion) };
  if (version === 'raw') return { kind: 'print', text: renderRawVersion(reportedVersion, environment.build) };
  return layer(commandLine, parsed, environment);
}

/** Defaults, file, drop-ins, dynamic configuration, flags; then everything that can be wrong with the result. */
function layer(commandLine: CommandLine, parsed: Configurable, environment: ConfigEnvironment): ConfigOutcome {
  const read = readSources(parsed.settings.sources, environment);
  const decoded = decodeKubeletConfiguration(read.sources, parsed.settings.sources);
  const flagGates = gatesOfFlags(commandLine, parsed);
  const result = commandLine.apply({
    ...parsed,
    kubelet: completeFiles(decoded, flagGates, environment),
    settings: applyOldSettings(defaultSettings, decoded.old),
  });
  const { kubelet } = result;
  const gates = resolveFeatures(kubelet.featureGates);
  const settings = settleSettings(result.settings, kubelet, result.request.version);
  const origins = createOrigins({ given: commandLine.given, flagGates, fileOriginOf: decoded.originOf });
  const judged = validateConfig({ kubelet, settings, features: gates.features, machine: environment.machine() });
  const listening = decideListening({
    kubelet,
    cadvisor: settings.cadvisor,
    // An empty address in a file means the default.
    isAddressGiven: commandLine.given.has('address') || (decoded.values.address ?? '') !== '',
    isClosedByItself: settings.api.kubeconfig === '' && origins.of('authentication.anonymous.enabled') === 'default',
  });
  const warnings = [
    ...commandLine.warnings,
    ...decoded.warnings.map(formatFileProblem),
    ...[...gates.warnings, ...judged.warnings, ...findWithoutEffect({ kubelet, settings }, flagTable)].map((warning) =>
      formatProblem(warning, origins),
    ),
  ];
  const found = [...gates.problems, ...checkNodeLabels(settings.node.labels), ...judged.problems];
  const problems = [
    ...read.problems,
    ...decoded.problems.map(formatFileProblem),
    ...found.map((problem) => formatProblem(problem, origins)),
  ];
  if (problems.length > 0) return { kind: 'refused', problems, warnings, hint: '' };
  const shown = { ...parsed, kubelet: withoutSecrets(parsed.kubelet) };
  const config: Config = {
    kubelet,
    settings,
    features: gates.features,
    listen: listening.decision,
    origins,
    flagValues: () => flagTable.map((flag) => ({ name: flag.name, value: flag.show(shown) })),
  };
  return { kind: 'ready', config: deepFreeze(config), warnings: [...warnings, ...listening.warnings] };
}

/** Some defaults depend on gates, so the gates of files and flags are computed first; dynamic configuration may still change them. */
function completeFiles(
  decoded: DecodedConfiguration,
  flagGates: Readonly<Record<string, boolean>>,
  { overlay = (fromFiles) => fromFiles }: ConfigEnvironment,
): KubeletConfiguration {
  const { features } = resolveFeatures({ ...decoded.values.featureGates, ...flagGates });
  return overlay(
    completeConfiguration(decoded, {
      KubeletCrashLoopBackOffMax: features.enabled('KubeletCrashLoopBackOffMax'),
      KubeletEnsureSecretPulledImages: features.enabled('KubeletEnsureSecretPulledImages'),
    }),
  );
}

function gatesOfFlags(commandLine: CommandLine, on: Configurable): Readonly<Record<string, boolean>> {
  const withoutGates = { ...on, kubelet: { ...on.kubelet, featureGates: {} } };
  return commandLine.apply(withoutGates).kubelet.featureGates;
}

/** The changes of a reload, field by field. */
export function diffConfigs(before: Config, after: Config): readonly Change[] {
  return diffKubeletConfigurations(before.kubelet, after.kubelet, isLiveField);
}

/** The content of `/configz`, in the format of the reference. */
export function renderConfigz(config: Config): unknown {
  return renderKubeletConfigz(withoutSecrets(config.kubelet));
}

/** Where each value of `/configz` came from: a flag, a line of a file, or the defaults. */
export function renderOrigins({ origins }: Config): Readonly<Record<string, string>> {
  return Object.fromEntries(leavesOf(kubeletConfiguration, '').map((path) => [path, origins.of(path)]));
}

function leavesOf(type: Kind, path: string): readonly string[] {
  if (type.kind !== 'struct') return [path];
  const below = (name: string) => (path === '' ? name : `${path}.${name}`);
  return Object.entries(type.fields).flatMap(([name, field]) => leavesOf(field.type, below(name)));
}

/** For pages: the headers of the static pod URL contain credentials, so only their names are shown. */
function withoutSecrets(kubelet: KubeletConfiguration): KubeletConfiguration {
  const mparsed = Object.keys(kubelet.staticPodURLHeader).map((name) => [name, [MASKED]]);
  return { ...kubelet, staticPodURLHeader: Object.fromEntries(mparsed) };
}

/** The command line for pages, without secrets. */
export function renderArguments(argv: readonly string[]): readonly string[] {
  const isSecret = (arg = '') => /^--?manifest[-_]url[-_]header$/.test(arg);
  return argv.map((arg, at) => {
    const [name, value] = arg.split(/=(.*)/s);
    if (isSecret(name) && value !== undefined) return `${name}=${MASKED}`;
    return isSecret(argv[at - 1]) ? MASKED : arg;
  });
}
