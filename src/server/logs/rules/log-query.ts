/** Parses the query of `/containerLogs`. Errors have the texts and codes of the reference. */

import type { Instant } from './instant.ts';
import { parseInstant } from './instant.ts';

export interface LogRequest {
  readonly follow: boolean;
  /** The previous container instead of the current one. */
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly sinceSeconds: number | undefined;
  readonly sinceTime: Instant | undefined;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

export interface Refusal {
  readonly status: number;
  readonly text: string;
}

const UNDECODABLE: Refusal = { status: 400, text: '{"message": "Unable to decode query."}' };
const INVALID: Refusal = { status: 422, text: '{"message": "Invalid request."}' };
const STREAMS = ['All', 'Stdout', 'Stderr'];
const OFF = new Set(['', '0', 'false']);

export type LogQuery = { readonly request: LogRequest } | { readonly refusal: Refusal };

export function parseLogQuery(query: URLSearchParams, gates: { readonly splitStreams: boolean }): LogQuery {
  const given = tailFromOldClients(query);
  const numbers = ['tailLines', 'limitBytes', 'sinceSeconds'].map((name) => parseInteger(given.get(name)));
  const since = parseTime(given.get('sinceTime'));
  if (numbers.includes(undecodable) || since === undecodable) return { refusal: UNDECODABLE };
  const [tailLines, limitBytes, sinceSeconds] = numbers as (number | undefined)[];
  const stream = given.get('stream') ?? undefined;
  const isInvalid =
    (tailLines ?? 0) < 0 ||
    (limitBytes ?? 1) < 1 ||
    (sinceSeconds ?? 1) < 1 ||
    (sinceSeconds !== undefined && since !== undefined) ||
    (stream !== undefined && !STREAMS.includes(stream)) ||
    (stream !== undefined && stream !== 'All' && tailLines !== undefined);
  if (isInvalid) return { refusal: INVALID };
  if (!gates.splitStreams && stream !== undefined && stream !== 'All') return { refusal: notSplit(stream) };
  return {
    request: {
      follow: isOn(given, 'follow'),
      previous: isOn(given, 'previous'),
      timestamps: isOn(given, 'timestamps'),
      tailLines,
      limitBytes,
      sinceSeconds,
      sinceTime: since,
      stdout: stream !== 'Stderr',
      stderr: stream !== 'Stdout',
    },
  };
}

const notSplit = (stream: string): Refusal => ({
  status: 400,
  text: `unable to return the given log stream: "${stream}". Please enable PodLogsQuerySplitStreams feature gate in kubelet`,
});

/** `tail` was the name before `tailLines`, with `all` for no limit. */
function tailFromOldClients(query: URLSearchParams): URLSearchParams {
  const tail = query.get('tail') ?? '';
  if (tail === '') return query;
  const given = new URLSearchParams(query);
  if (tail === 'all') given.delete('tailLines');
  else given.set('tailLines', tail);
  return given;
}

const isOn = (query: URLSearchParams, name: string): boolean => {
  const text = query.get(name);
  return text !== null && !OFF.has(text.toLowerCase());
};

const undecodable = Symbol('undecodable');

function parseInteger(text: string | null): number | undefined | typeof undecodable {
  if (text === null) return undefined;
  if (!/^[+-]?\d{1,19}$/.test(text)) return undecodable;
  return Number(text);
}

function parseTime(text: string | null): Instant | undefined | typeof undecodable {
  if (text === null || text === '' || text === 'null') return undefined;
  return parseInstant(Buffer.from(text), 0, Buffer.byteLength(text)) ?? undecodable;
}
