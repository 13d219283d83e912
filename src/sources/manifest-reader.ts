/** From a text to the pods that its origin stands for: reads it, reports what is wrong with it, and keeps the pods that were good before. */
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { LastGood } from './last-good.ts';
import { readInSteps } from './read-in-steps.ts';
import type { SourceReading, SourceReport } from './report.ts';
import { type ManifestRules, readManifest } from './rules/manifest.ts';
import { podsAfterReading } from './rules/manifest-files.ts';
import type { ManifestText } from './stable-file.ts';

export interface ManifestReaderDeps {
  readonly clock: Clock;
  readonly rules: ManifestRules;
  readonly report: SourceReport;
  readonly lastGood: LastGood;
}

export interface ManifestReader {
  /** `before`: the pods of this origin until now; undefined where it is new to this kubelet. */
  read(
    origin: string,
    content: ManifestText,
    before: readonly Pod[] | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly pods: readonly Pod[]; readonly isGood: boolean }>;
  /** The pods that an earlier kubelet knew of this origin. */
  recall(origin: string, signal: AbortSignal): Promise<readonly Pod[]>;
}

type Reading = SourceReading & { readonly pods: readonly Pod[] };

export function createManifestReader({ clock, rules, report, lastGood }: ManifestReaderDeps): ManifestReader {
  /** A text that the reader itself fails on is a bad text, and no reason not to read the others. */
  const readText = async (text: string, signal: AbortSignal): Promise<Reading> => {
    try {
      return await readInSteps(readManifest(text, rules), clock, signal);
    } catch (error) {
      signal.throwIfAborted();
      const problem = { place: undefined, text: `failed to read: ${describeError(error)}` };
      return { pods: [], problems: [problem], warnings: [] };
    }
  };

  const recall = async (origin: string, signal: AbortSignal): Promise<readonly Pod[]> => {
    const text = await lastGood.read(origin);
    return text === undefined ? [] : (await readText(text, signal)).pods;
  };

  return {
    recall,
    read: async (origin, content, before, signal) => {
      const reading: Reading =
        content.kind === 'text'
          ? await readText(content.text, signal)
          : { pods: [], problems: [{ place: undefined, text: content.problem }], warnings: [] };
      const isGood = reading.problems.length === 0;
      if (isGood && content.kind === 'text') lastGood.write(origin, content.text);
      const known = before ?? (isGood ? [] : await recall(origin, signal));
      const { pods, kept } = podsAfterReading(known, reading);
      report.reading(origin, reading, kept);
      return { pods, isGood };
    },
  };
}
