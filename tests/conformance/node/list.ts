/** The list of specs that the reference passes on this kind of machine, and what a run says about it. */
import { type SpecResult, writeNames } from '../verdict.ts';
import type { SpecSet } from './sets.ts';

/** Specs of the list that the set chooses and that did not run: skipped by themselves, or cut off by the time limit. */
export function missingSpecs(
  set: Pick<SpecSet, 'focus' | 'skip'>,
  results: readonly SpecResult[],
  referencePasses: ReadonlySet<string>,
): readonly string[] {
  const focus = new RegExp(set.focus);
  const skip = new RegExp(set.skip);
  const ran = new Set(results.map(({ name }) => name));
  return [...referencePasses].filter((name) => focus.test(name) && !skip.test(name) && !ran.has(name));
}

/** The list after a run of the reference: what passed is on it, what failed is not, what did not run stays as it was. */
export function correctList(results: readonly SpecResult[], referencePasses: ReadonlySet<string>): string {
  const names = new Set(referencePasses);
  for (const { name, passed } of results) {
    if (passed) names.add(name);
    else names.delete(name);
  }
  return writeNames([...names]);
}
