/**
 * Reads the configuration file and its drop-ins: text in, what was set out, with every complaint and the place of every
 * value. Names of fields are told apart by case, as the reference does in its file; in drop-ins it does not, but a name
 * that differs only in case gets a warning here with the right spelling, which is kinder than two rules.
 */
import { dirname, isAbsolute, join } from 'node:path';
import { type Entry, readTree, type Tree } from '../../base/yaml-tree.ts';
import {
  KUBELET_CONFIGURATION_KIND,
  KUBELET_CONFIGURATION_VERSION,
  kubeletConfiguration,
  type PartialKubeletConfiguration,
} from '../schema/kubelet-configuration.ts';
import { mergePatch } from '../schema/merge.ts';
import { type OldSettings, oldSettings, sortOutOldFields } from './old-fields.ts';
import { type FileProblem, FileReport } from './report.ts';
import { type Decoded, type Decoding, decodeStruct, describe, dropRepeated } from './value.ts';

export interface ConfigSource {
  /** Absolute where relative paths in the file are to count from its directory. */
  readonly path: string;
  readonly text: string;
  readonly kind: 'file' | 'dropin';
}

export interface DecodedConfiguration {
  /** What the file set; undefined where there was none. */
  readonly file: PartialKubeletConfiguration | undefined;
  /** What each drop-in changes, in order. `null` takes a value away. */
  readonly dropins: readonly Decoded[];
  /** Only what was set, file and drop-ins together. */
  readonly values: PartialKubeletConfiguration;
  readonly old: OldSettings;
  readonly problems: readonly FileProblem[];
  readonly warnings: readonly FileProblem[];
  /** `kubelet.yaml:12` of a field or, failing that, of what holds it; undefined where no file set it. */
  originOf(path: string): string | undefined;
}

export interface DecodeOptions {
  /** Unknown fields and repeated keys are problems, not warnings. */
  readonly strict: boolean;
}

export function decodeKubeletConfiguration(
  sources: readonly ConfigSource[],
  { strict }: DecodeOptions,
): DecodedConfiguration {
  const read = sources.map((source) => ({ kind: source.kind, ...decodeSource(source, strict) }));
  const file = read.find(({ kind }) => kind === 'file')?.decoded;
  const dropins = read.filter(({ kind }) => kind === 'dropin').map(({ decoded }) => decoded);
  // The decoder follows the table that gives the type.
  const fileValues = file as PartialKubeletConfiguration | undefined;
  return {
    file: fileValues,
    dropins,
    values: dropins.reduce<PartialKubeletConfiguration>(mergePatch, fileValues ?? {}),
    old: mergeOld(read.map(({ old }) => old)),
    problems: read.flatMap(({ report }) => report.problems),
    warnings: read.flatMap(({ report }) => report.warnings),
    originOf: createOriginLookup(read.map(({ report }) => report)),
  };
}

function mergeOld(layers: readonly OldSettings[]): OldSettings {
  // The last file that sets a field counts.
  return Object.fromEntries(layers.flatMap((layer) => Object.entries(layer)));
}

interface ReadSource {
  readonly decoded: Decoded;
  readonly old: OldSettings;
  readonly report: FileReport;
}

function decodeSource({ path, text, kind }: ConfigSource, strict: boolean): ReadSource {
  const report = new FileReport(path, strict);
  const entries = readEntries(text, report);
  const { entries: today, old } = sortOutOldFields(entries, report);
  const decoding: Decoding =
    kind === 'file'
      ? { report, nulls: 'fill', resolvePath: (value) => resolveBeside(path, value) }
      : { report, nulls: 'patch', resolvePath: (value) => value };
  return {
    decoded: decodeStruct(kubeletConfiguration, today, '', decoding),
    old: decodeStruct(oldSettings, old, '', { ...decoding, nulls: 'fill' }) as OldSettings,
    report,
  };
}

/** Empty stays empty: it means "none". */
function resolveBeside(file: string, path: string): string {
  return path === '' || isAbsolute(path) ? path : join(dirname(file), path);
}

/** The fields of the file without its head; none where the head says that it is something else. */
function readEntries(text: string, report: FileReport): readonly Entry[] {
  const read = readTree(text);
  if ('problem' in read) {
    report.refuse(read.problem.place, '', read.problem.text);
    return [];
  }
  const { tree, second } = read;
  if (second !== undefined) report.doubt(second, '', 'a second YAML document begins here and is not read');
  if (tree.kind !== 'map') {
    report.refuse(tree.place, '', `must be a ${KUBELET_CONFIGURATION_KIND}; found ${describe(tree)}`);
    return [];
  }
  const entries = dropRepeated(tree.entries, '', report);
  const isOurs = [
    checkHead('kind', KUBELET_CONFIGURATION_KIND, tree, entries, report),
    checkHead('apiVersion', KUBELET_CONFIGURATION_VERSION, tree, entries, report),
  ].every(Boolean);
  return isOurs ? entries.filter(({ key }) => key !== 'kind' && key !== 'apiVersion') : [];
}

/** False where the file is something else; a missing line is a problem, but the rest can still be checked. */
function checkHead(name: string, wanted: string, tree: Tree, entries: readonly Entry[], report: FileReport): boolean {
  const value = entries.find(({ key }) => key === name)?.value;
  if (value === undefined) {
    report.refuse(tree.place, name, `missing; must be ${wanted}`);
    return true;
  }
  if (value.kind === 'string' && value.value === wanted) return true;
  report.refuse(value.place, name, `must be ${wanted}; found ${describe(value)}`);
  return false;
}

/** The nearest place that a file names for a path, of several as near the one in the last file. */
function createOriginLookup(reports: readonly FileReport[]): (path: string) => string | undefined {
  return (path) => {
    const parts = withHolders(path);
    let nearest: string | undefined;
    for (const { origins, removed } of reports.toReversed()) {
      const found = parts.find((part) => origins.has(part));
      if (found !== undefined && found.length > (nearest?.length ?? 0)) nearest = found;
      // What earlier files said about it is gone.
      if (parts.some((part) => removed.has(part))) break;
    }
    return nearest === undefined
      ? undefined
      : reports.findLast(({ origins }) => origins.has(nearest))?.origins.get(nearest);
  };
}

/** `a.b[0].c`, `a.b[0]`, `a.b`, `a`. */
function withHolders(path: string): readonly string[] {
  const end = Math.max(path.lastIndexOf('.'), path.lastIndexOf('['));
  return end <= 0 ? [path] : [path, ...withHolders(path.slice(0, end))];
}
