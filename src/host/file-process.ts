/**
 * The other end of the file jobs: this program started once more, which reads one job after the other from its standard input and
 * does nothing else. It may hang in the kernel; it is killed then.
 */
import { createInterface } from 'node:readline';
import { createFileCalls } from './file-calls.ts';
import { type FileJob, type FileReport, failureOf, stepsOf } from './file-job.ts';

/** Files between two reports of how far a job is. */
const PROGRESS_EVERY = 10_000;

export interface FileProcessStreams {
  readonly input: NodeJS.ReadableStream;
  /** Must be written at once: a job may take the thread for minutes. */
  readonly write: (line: string) => void;
}

export async function runFileProcess({ input, write }: FileProcessStreams): Promise<void> {
  const calls = createFileCalls();
  calls.dieWithParent();
  const report = (line: FileReport) => write(`${JSON.stringify(line)}\n`);
  for await (const line of createInterface({ input })) {
    try {
      const steps = stepsOf(calls, JSON.parse(line) as FileJob);
      let step = steps.next();
      let reported = 0;
      while (!step.done) {
        if (step.value >= reported + PROGRESS_EVERY) {
          reported = step.value;
          report({ kind: 'progress', files: reported });
        }
        step = steps.next();
      }
      report({ kind: 'done', answer: step.value });
    } catch (error) {
      report(failureOf(error));
    }
  }
}
