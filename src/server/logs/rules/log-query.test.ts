import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLogQuery } from './log-query.ts';

const NONE = {
  follow: false,
  previous: false,
  timestamps: false,
  tailLines: undefined,
  limitBytes: undefined,
  sinceSeconds: undefined,
  sinceTime: undefined,
  stdout: true,
  stderr: true,
};
const UNDECODABLE = [400, '{"message": "Unable to decode query."}'];
const INVALID = [422, '{"message": "Invalid request."}'];

for (const [query, expected, gate = false] of [
  ['', NONE],
  ['follow=true&previous=1&timestamps=yes', { ...NONE, follow: true, previous: true, timestamps: true }],
  ['follow=false&previous=0&timestamps=&container=x', NONE],
  ['tailLines=10&limitBytes=5&sinceSeconds=3', { ...NONE, tailLines: 10, limitBytes: 5, sinceSeconds: 3 }],
  ['tailLines=0', { ...NONE, tailLines: 0 }],
  ['tail=7', { ...NONE, tailLines: 7 }],
  ['tail=all&tailLines=3', NONE],
  ['tail=7&tailLines=3', { ...NONE, tailLines: 7 }],
  ['sinceTime=2026-01-02T03:04:05.25Z', { ...NONE, sinceTime: { seconds: 1_767_323_045, nanos: 250_000_000 } }],
  ['sinceTime=2026-01-02T05:04:05%2B02:00', { ...NONE, sinceTime: { seconds: 1_767_323_045, nanos: 0 } }],
  ['sinceTime=', NONE],
  ['stream=All', NONE],
  ['stream=Stdout', { ...NONE, stderr: false }, true],
  ['stream=Stderr', { ...NONE, stdout: false }, true],
  ['tailLines=ten', UNDECODABLE],
  ['tailLines=', UNDECODABLE],
  ['tailLines=1.5', UNDECODABLE],
  ['tailLines=99999999999999999999', UNDECODABLE],
  ['limitBytes=0x10', UNDECODABLE],
  ['sinceTime=yesterday', UNDECODABLE],
  ['sinceTime=2026-01-02', UNDECODABLE],
  ['tailLines=-1', INVALID],
  ['limitBytes=0', INVALID],
  ['sinceSeconds=0', INVALID],
  ['sinceSeconds=1&sinceTime=2026-01-02T03:04:05Z', INVALID],
  ['stream=stdout', INVALID, true],
  ['stream=Stdout&tailLines=1', INVALID, true],
  [
    'stream=Stderr',
    [
      400,
      'unable to return the given log stream: "Stderr". Please enable PodLogsQuerySplitStreams feature gate in kubelet',
    ],
  ],
] as const) {
  test(`?${query}${gate ? ' with split streams' : ''}`, () => {
    const answer = parseLogQuery(new URLSearchParams(query), { splitStreams: gate });
    const seen = 'request' in answer ? answer.request : [answer.refusal.status, answer.refusal.text];
    assert.deepEqual(seen, expected);
  });
}
