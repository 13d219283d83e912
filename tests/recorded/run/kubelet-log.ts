/** What the kubelet told about its pods, read back from its log: statuses and events, in order. */
import type { PodStatus } from '../../../src/api/pod-status.ts';
import type { RecordedEvent } from '../lives.ts';

/** Every status that was shown of a pod. */
export function statusesIn(log: string, uid: string): readonly PodStatus[] {
  const lines = linesWith(log, '"Pod status changed"').filter((line) => line.includes(`podUID="${uid}"`));
  return lines.map((line) => JSON.parse(line.slice(line.indexOf(' status={') + ' status='.length)));
}

/** Each event once, in the order of their first occurrence, with the count that it came to. */
export function eventsIn(log: string, pod: string): readonly RecordedEvent[] {
  const found = new Map<string, RecordedEvent>();
  for (const line of linesWith(log, '"Event occurred"').filter((one) => one.includes(` object="${pod}" `))) {
    const fields = fieldsOf(line);
    const { type, reason = '', message = '', fieldPath, count = '1' } = fields;
    const key = JSON.stringify([type, reason, message, fieldPath]);
    found.set(key, {
      type: type === 'Warning' ? 'Warning' : 'Normal',
      reason,
      message,
      ...(fieldPath === undefined ? {} : { fieldPath }),
      count: Number(count),
    });
  }
  return [...found.values()];
}

/** A value of several lines is written below its key, each line after a tab. */
function linesWith(log: string, text: string): readonly string[] {
  return log
    .replace(/=<\n((?:\t.*\n)*) >/g, (_, lines: string) => `=${JSON.stringify(lines.replace(/^\t/gm, '').trimEnd())}`)
    .split('\n')
    .filter((line) => line.includes(text));
}

function fieldsOf(line: string): Readonly<Record<string, string>> {
  const fields = line.matchAll(/ (\w+)=("(?:\\.|[^"\\])*"|\S+)/g);
  return Object.fromEntries([...fields].map(([, key, value = '']) => [key, unquote(value)]));
}

const unquote = (value: string): string => (value.startsWith('"') ? JSON.parse(value) : value);
