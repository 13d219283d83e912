/**
 * A reporter for node's test runner: one line a file, the whole story of every failure, and the counts at the end.
 * Thousands of table rows would hide a failure in the default one.
 */
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files = new Map<string, Counts>();
  const failures: string[] = [];
  const tally = (file: string, outcome: keyof Counts) => {
    const counts = files.get(file) ?? { passed: 0, failed: 0, skipped: 0 };
    counts[outcome] += 1;
    files.set(file, counts);
  };
  for await (const event of source) {
    if (event.type === 'test:stdout' || event.type === 'test:stderr') yield event.data.message;
    if (event.type === 'test:pass' && event.data.details.type !== 'suite') {
      tally(nameOf(event.data.file), event.data.skip === undefined ? 'passed' : 'skipped');
    }
    // A failed suite is counted only where none of its tests is to blame (a hook, for one, or a file that ended badly).
    if (event.type === 'test:fail' && !blamesSubtests(event.data.details.error)) {
      const file = nameOf(event.data.file);
      tally(file, 'failed');
      failures.push(`${file}: ${event.data.name}`);
      yield `FAILED ${file}: ${event.data.name}\n${indent(textOf(event.data.details.error))}\n`;
    }
    if (event.type === 'test:summary' && event.data.file !== undefined) {
      const file = nameOf(event.data.file);
      yield lineOf(file, files.get(file), event.data.duration_ms);
    }
  }
  if (failures.length > 0) yield `\nfailed:\n${failures.map((line) => `  ${line}\n`).join('')}`;
  const total = [...files.values()].reduce(sum, { passed: 0, failed: 0, skipped: 0 });
  yield `${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`;
}

const nameOf = (file: string | undefined): string => (file === undefined ? '?' : relative(process.cwd(), file));

const sum = (a: Counts, b: Counts): Counts => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  skipped: a.skipped + b.skipped,
});

function lineOf(file: string, counts: Counts | undefined, ms: number): string {
  const { passed, failed, skipped } = counts ?? { passed: 0, failed: 0, skipped: 0 };
  const words = [`${passed} passed`];
  if (failed > 0) words.push(`${failed} FAILED`);
  if (skipped > 0) words.push(`${skipped} skipped`);
  return `${failed > 0 ? 'not ok' : 'ok'} ${file} (${words.join(', ')}, ${(ms / 1000).toFixed(1)} s)\n`;
}

/** The runner wraps what was thrown; the cause is the error of the test. */
function textOf(error: Error): string {
  const { cause } = error;
  if (cause instanceof Error) return cause.stack ?? cause.message;
  return cause === undefined ? (error.stack ?? error.message) : String(cause);
}

const blamesSubtests = (error: Error): boolean => 'failureType' in error && error.failureType === 'subtestsFailed';

const indent = (text: string): string => text.replace(/^/gm, '    ');
