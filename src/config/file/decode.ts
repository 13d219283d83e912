/**
 * Parses the configuration file and its drop-ins: gives the fields that were set, every problem, and the position of every
 * value. Names of fields are case-sensitive, as in the reference's file; in its drop-ins they are not, but a name
 * that differs only in case gets a warning here with the right spelling, which is simpler than two rules.
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
  /** Absolute if relative paths in the file count from its directory. */
  readonly path: string;
  readonly text: string;
  readonly kind: 'file' | 'dropin';
}

export interface DecodedConfiguration {
  /** The fields of the file; undefined without a file. */
  readonly file: PartialKubeletConfiguration | undefined;
  /** The changes of each drop-in, in order. `null` removes a value. */
  readonly dropins: readonly Decoded[];
  /** Only the fields that were set, of file and drop-ins together. */
  readonly values: PartialKubeletConfiguration;
  readonly old: OldSettings;
  readonly problems: readonly FileProblem[];
  readonly warnings: readonly FileProblem[];
  /** `kubelet.yaml:12` of a field or else of its parent; undefined if no file set it. */
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
  // The decoder and the type come from the same table.
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
  const { entries, isOldKind } = readEntries(text, report);
  const { entries: today, old } = sortOutOldFields(entries, report, isOldKind);
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

/** Of kubelets before 1.8. */
const OLD_CONFIGURATION_VERSION = 'componentconfig/v1alpha1';

interface FileEntries {
  readonly entries: readonly Entry[];
  readonly isOldKind: boolean;
}

const NO_ENTRIES: FileEntries = { entries: [], isOldKind: false };

/** The fields of the file without apiVersion and kind; none if these name another kind of object. */
function readEntries(text: string, report: FileReport): FileEntries {
  const read = readTree(text);
  if ('problem' in read) {
    report.refuse(read.problem.place, '', read.problem.text);
    return NO_ENTRIES;
  }
  const { tree, second } = read;
  if (second !== undefined) report.doubt(second, '', 'a second YAML document begins here and is not read');
  if (tree.kind !== 'map') {
    report.refuse(tree.place, '', `must be a ${KUBELET_CONFIGURATION_KIND}; found ${describe(tree)}`);
    return NO_ENTRIES;
  }
  const entries = dropRepeated(tree.entries, '', report);
  const isOldKind = isOfOldKind(entries, report);
  const isOurs = [
    checkHead('kind', KUBELET_CONFIGURATION_KIND, tree, entries, report),
    isOldKind || checkHead('apiVersion', KUBELET_CONFIGURATION_VERSION, tree, entries, report),
  ].every(Boolean);
  const fields = isOurs ? entries.filter(({ key }) => key !== 'kind' && key !== 'apiVersion') : [];
  return { entries: fields, isOldKind };
}

function isOfOldKind(entries: readonly Entry[], report: FileReport): boolean {
  const version = entries.find(({ key }) => key === 'apiVersion');
  if (version?.value.kind !== 'string' || version.value.value !== OLD_CONFIGURATION_VERSION) return false;
  report.warn(
    version.place,
    'apiVersion',
    `the oldest kind of this file, read with the defaults of ${KUBELET_CONFIGURATION_VERSION}`,
  );
  return true;
}

/** False if the file is another kind of object; a missing line is a problem, but the rest can still be checked. */
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

/** The position of a path or of its nearest parent; the last file counts. */
function createOriginLookup(reports: readonly FileReport[]): (path: string) => string | undefined {
  return (path) => {
    const parts = withHolders(path);
    let nearest: string | undefined;
    for (const { origins, removed } of reports.toReversed()) {
      const found = parts.find((part) => origins.has(part));
      if (found !== undefined && found.length > (nearest?.length ?? 0)) nearest = found;
      // Positions in earlier files no longer count.
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
