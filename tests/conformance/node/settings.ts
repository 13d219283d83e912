/** What a run of the node suite does, from environment variables (`make conformance SUITE=node SET=… FOCUS=… SKIP=… KUBELET=… PROCS=…`). */
import { type Environment, readFlag, readKubelet, readProcs } from '../settings.ts';
import { LATER } from './later.ts';
import { chooseSets, FOCUS_SET, type SpecSet } from './sets.ts';

export interface NodeSettings {
  readonly sets: readonly SpecSet[];
  readonly kubelet: 'ours' | 'reference';
  /** Passed to the kubelet after those of the suite and the set. */
  readonly flags: readonly string[];
  /** Correct the list of what the reference passes by what this run shows. */
  readonly update: boolean;
}

export function readNodeSettings(env: Environment): NodeSettings {
  const kubelet = readKubelet(env['KUBELET'] || 'ours');
  const update = readFlag('UPDATE', env['UPDATE'] || '0');
  if (update && kubelet !== 'reference') throw new Error('UPDATE=1: the list is made by runs with KUBELET=reference');
  return { sets: readSets(env), kubelet, flags: words(env['FLAGS']), update };
}

function readSets(env: Environment): readonly SpecSet[] {
  const names = words(env['SET']);
  const focus = env['FOCUS'] || undefined;
  const skips = [
    ...(env['SKIP'] ? [env['SKIP']] : []),
    ...(readFlag('LATER', env['LATER'] || '0') ? [] : LATER.map(({ specs }) => specs)),
  ];
  const procs = env['PROCS'] ? readProcs(env['PROCS']) : undefined;
  const chosen = focus !== undefined && names.length === 0 ? [{ ...FOCUS_SET, focus }] : chooseSets(names);
  return chosen.map((set) => ({
    ...set,
    focus: focus ?? set.focus,
    // A set that is about later work would be empty without it.
    skip: [set.skip, ...(set.later === undefined ? skips : skips.slice(0, env['SKIP'] ? 1 : 0))].join('|'),
    procs: procs ?? set.procs,
  }));
}

const words = (text: string | undefined): readonly string[] =>
  (text ?? '').split(/[\s,]+/).filter((word) => word !== '');
