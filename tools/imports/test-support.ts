/**
 * Names of files below `src/` that only tests use: `testing.ts`, or `x-testing.ts` where a directory has several. By the name a reader
 * sees that the kubelet never runs the file, and code that no one uses does not pass for code of the kubelet.
 */
import { posix } from 'node:path';
import { importsOf } from './rules.ts';

/** Files that only tests import and that are part of the kubelet all the same, each with the reason. */
const OF_THE_KUBELET: Readonly<Record<string, string>> = {
  'base/manual-clock.ts': 'the other clock, for simulated nodes',
  'main.ts': 'the program',
  'volumes/ownership.ts': 'for volumes that outlive their pods',
};

export const isTestFile = (file: string): boolean => /(?:^|[-/.])test(?:ing)?\.ts$/.test(file);

/** `sources`: each file below `src/` with its code. */
export function judgeTestSupport(
  sources: ReadonlyMap<string, string>,
  reasons: Readonly<Record<string, string>> = OF_THE_KUBELET,
): readonly string[] {
  const used = new Set<string>();
  const problems: string[] = [];
  for (const [file, code] of sources) {
    if (isTestFile(file)) continue;
    for (const { specifier } of importsOf(code)) {
      if (!specifier.startsWith('.')) continue;
      const target = posix.join(posix.dirname(file), specifier);
      used.add(target);
      if (isTestFile(target)) problems.push(`${file}: imports ${target}, which is for tests`);
    }
  }
  for (const file of sources.keys()) {
    if (isTestFile(file) || used.has(file) || file.includes('/gen/') || Object.hasOwn(reasons, file)) continue;
    problems.push(`${file}: only tests use it: name it testing.ts or x-testing.ts, or delete it`);
  }
  for (const file of Object.keys(reasons)) {
    if (used.has(file) || !sources.has(file))
      problems.push(`${file}: needs no reason in tools/imports/test-support.ts`);
  }
  return problems;
}
