/** What is said over the port to the agent in the guest: one line for each message (the other side: root/usr/local/sbin/lab-agent). */
import type { Captured } from '../../../tools/machine/capture.ts';

export type Message =
  | { readonly kind: 'hello'; readonly boot: string }
  | { readonly kind: 'answer'; readonly id: number; readonly result: Captured }
  | { readonly kind: 'timeout'; readonly id: number; readonly stdout: string; readonly stderr: string };

export function formatRequest(id: number, seconds: number, script: string): string {
  return `${id} ${seconds} ${Buffer.from(script).toString('base64')}\n`;
}

/** What can't be understood is no message: the rest of a line that an earlier boot began. */
export function parseMessage(line: string): Message | undefined {
  const hello = /^hello ([0-9a-f-]+)$/.exec(line);
  if (hello?.[1] !== undefined) return { kind: 'hello', boot: hello[1] };
  const answer = /^(\d+) (\d+|timeout) ([\w+/=]*) ([\w+/=]*)$/.exec(line);
  if (answer === null) return undefined;
  const [, id, status, out = '', err = ''] = answer;
  const stdout = fromBase64(out);
  const stderr = fromBase64(err);
  if (status === 'timeout') return { kind: 'timeout', id: Number(id), stdout, stderr };
  return { kind: 'answer', id: Number(id), result: { code: Number(status), stdout, stderr } };
}

const fromBase64 = (text: string): string => Buffer.from(text, 'base64').toString('utf8');
