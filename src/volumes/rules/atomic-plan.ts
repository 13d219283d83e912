/**
 * How a volume comes to show another set of files at one stroke:
 *
 *     color   -> ..data/color
 *     ..data  -> ..2026_11_15_10_06_37.3009648341
 *     ..2026_11_15_10_06_37.3009648341/color
 *
 * New files are made in a directory beside the old one, and a rename of `..data` makes all of them visible at once. Links of new
 * names are made after that, and links of old names removed. A kubelet that was killed in between left either the old set or the new one, and
 * leftovers whose names begin with two dots: a plan that is made from these ends with the same files.
 */
import { formatTimestamp } from '../../api/timestamp.ts';
import { directoryMode, fileMode } from './file-access.ts';
import type { Payload, ProjectedFile } from './payload.ts';
import { directoriesByDepth, topNames } from './payload-paths.ts';

export const DATA_LINK = '..data';
const NEXT_LINK = '..data_tmp';
const RESERVED = '..';
const DIRECTORY_MODE = 0o755;

export interface FoundEntry {
  readonly name: string;
  readonly kind: 'link' | 'directory' | 'other';
}

/** What is in the directory of a volume now. */
export interface AtomicState {
  /** The directory that `..data` leads to; undefined: there is no such link. */
  readonly current: string | undefined;
  /** That directory has exactly the desired files. */
  readonly upToDate: boolean;
  readonly entries: readonly FoundEntry[];
}

/** Paths are relative to the volume. */
export type AtomicStep =
  | { readonly step: 'directory'; readonly path: string; readonly mode: number }
  | { readonly step: 'file'; readonly path: string; readonly file: ProjectedFile }
  | { readonly step: 'link'; readonly path: string; readonly target: string; readonly owner?: number }
  | { readonly step: 'rename'; readonly from: string; readonly to: string }
  | { readonly step: 'unlink'; readonly path: string }
  | { readonly step: 'removeTree'; readonly path: string };

export interface AtomicPlan {
  /** One stage after the other; the steps of a stage in any order. */
  readonly publish: readonly (readonly AtomicStep[])[];
  /** Removes, a moment later, what a reader may still use. */
  readonly tidy: readonly AtomicStep[];
}

export interface AtomicRequest {
  readonly payload: Payload;
  readonly fsGroup: number | undefined;
  /** For the new directory, if one is needed; see `directoryName`. */
  readonly directory: string;
}

export function planAtomicWrite(state: AtomicState, request: AtomicRequest): AtomicPlan {
  const rubbish = removeRubbish(state);
  if (state.upToDate)
    return { publish: withoutEmpty([rubbish, newLinks(state, request), staleLinks(state, request)]), tidy: [] };
  const { directory } = request;
  return {
    publish: withoutEmpty([
      rubbish,
      ...newDirectory(request),
      [{ step: 'link', path: NEXT_LINK, target: directory }],
      [{ step: 'rename', from: NEXT_LINK, to: DATA_LINK }],
      newLinks(state, request),
      staleLinks(state, request),
    ]),
    tidy: state.current === undefined ? [] : [{ step: 'removeTree', path: state.current }],
  };
}

/** By this pattern the volume's own directories differ from names of the pod: `..2026_11_15_10_06_37.3009648341`. */
export function directoryName(now: number, random: number): string {
  const [date = '', time = ''] = formatTimestamp(now).replace('Z', '').split('T');
  return `..${date.replaceAll('-', '_')}_${time.replaceAll(':', '_')}.${random}`;
}

function withoutEmpty(stages: readonly (readonly AtomicStep[])[]): readonly (readonly AtomicStep[])[] {
  return stages.filter((stage) => stage.length > 0);
}

/** What a killed kubelet left. Removed first, because its link would be in the way and its files use space. */
function removeRubbish({ current, entries }: AtomicState): readonly AtomicStep[] {
  return entries
    .filter(({ name }) => name.startsWith(RESERVED) && name !== DATA_LINK && name !== current)
    .map(({ name, kind }) =>
      kind === 'directory' ? { step: 'removeTree', path: name } : { step: 'unlink', path: name },
    );
}

function newDirectory({ payload, fsGroup, directory }: AtomicRequest): readonly (readonly AtomicStep[])[] {
  const mode = directoryMode(DIRECTORY_MODE, fsGroup);
  const inside = directoriesByDepth(payload.keys());
  return [
    [{ step: 'directory', path: directory, mode }],
    ...inside.map((paths) => paths.map((path) => ({ step: 'directory' as const, path: `${directory}/${path}`, mode }))),
    Array.from(payload, ([path, file]) => ({
      step: 'file' as const,
      path: `${directory}/${path}`,
      file: { ...file, mode: fileMode(file.mode, fsGroup) },
    })),
  ];
}

function newLinks({ entries }: AtomicState, { payload }: AtomicRequest): readonly AtomicStep[] {
  const there = new Set(entries.map(({ name }) => name));
  const missing = [...topNames(payload.keys())].filter((name) => !there.has(name));
  return missing.map((name) => {
    const link = { step: 'link' as const, path: name, target: `${DATA_LINK}/${name}` };
    const owner = payload.get(name)?.owner;
    return owner === undefined ? link : { ...link, owner };
  });
}

/** Only links: directories are places where something else is mounted. */
function staleLinks({ entries }: AtomicState, { payload }: AtomicRequest): readonly AtomicStep[] {
  const desired = topNames(payload.keys());
  return entries
    .filter(({ name, kind }) => kind === 'link' && !name.startsWith(RESERVED) && !desired.has(name))
    .map(({ name }) => ({ step: 'unlink', path: name }));
}
