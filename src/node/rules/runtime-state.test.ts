import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StatusResponse } from '../../wire/gen/cri-runtime-v1.ts';
import { RUNTIME_AWAY_MS } from './readiness.ts';
import {
  describeRuntimeState,
  nextRuntimeState,
  pauseAfter,
  type RuntimeEvent,
  UNKNOWN_RUNTIME,
} from './runtime-state.ts';

const version = { name: 'containerd', version: '2.1.0' };

function answered(given: {
  readonly runtime?: boolean;
  readonly network?: boolean;
  readonly mono?: number;
}): RuntimeEvent {
  const condition = (type: string, status = true) => ({ type, status, reason: 'Why', message: 'because' });
  const status: StatusResponse = {
    status: { conditions: [condition('RuntimeReady', given.runtime), condition('NetworkReady', given.network)] },
    info: {},
    runtimeHandlers: [{ name: given.runtime === false ? 'unready' : 'runc', features: undefined }],
    features: undefined,
  };
  return { kind: 'answered', status, version, mono: given.mono ?? 7 };
}

const ready = nextRuntimeState(UNKNOWN_RUNTIME, answered({}));

test('a ready runtime is known with its version, its handlers and the time', () => {
  assert.equal(ready.kind, 'answering');
  assert.deepEqual(ready.facts.version, version);
  assert.deepEqual(
    ready.facts.handlers.map(({ name }) => name),
    ['runc'],
  );
  assert.deepEqual(ready.facts.report, { lastReadyAt: 7, runtimeProblem: undefined, networkProblem: undefined });
});

test('a runtime that is not ready keeps the handlers and the time of its last good answer', () => {
  const unready = nextRuntimeState(ready, answered({ runtime: false, mono: 9 }));
  assert.equal(unready.kind, 'answering');
  assert.match(unready.facts.report.runtimeProblem ?? '', /container runtime not ready: RuntimeReady=false/);
  assert.equal(unready.facts.report.lastReadyAt, 7);
  assert.deepEqual(
    unready.facts.handlers.map(({ name }) => name),
    ['runc'],
  );
});

test('a runtime without a network is ready itself', () => {
  const { report } = nextRuntimeState(ready, answered({ network: false, mono: 9 })).facts;
  assert.equal(report.lastReadyAt, 9);
  assert.match(report.networkProblem ?? '', /container runtime network not ready: NetworkReady=false/);
});

test('a request that fails changes nothing of what is known', () => {
  const silent = nextRuntimeState(ready, { kind: 'failed' });
  assert.equal(silent.kind, 'silent');
  assert.equal(silent.facts, ready.facts);
});

test('the description changes with the answers, the problems, and after a long silence', () => {
  const texts = [
    describeRuntimeState(UNKNOWN_RUNTIME, 7),
    describeRuntimeState(ready, 7),
    describeRuntimeState(nextRuntimeState(ready, { kind: 'failed' }), 8),
    describeRuntimeState(nextRuntimeState(ready, { kind: 'failed' }), 7 + RUNTIME_AWAY_MS),
    describeRuntimeState(nextRuntimeState(ready, answered({ network: false })), 8),
  ];
  assert.equal(new Set(texts).size, texts.length);
  assert.equal(describeRuntimeState(nextRuntimeState(ready, answered({ mono: 9 })), 9), texts[1]);
});

test('requests are frequent while the node starts, rarer after two minutes, and rare once all is ready', () => {
  const silent = nextRuntimeState(ready, { kind: 'failed' });
  const withoutNetwork = nextRuntimeState(ready, answered({ network: false }));
  assert.deepEqual(
    [UNKNOWN_RUNTIME, withoutNetwork, silent, ready].map((state) => [pauseAfter(state, 0), pauseAfter(state, 120_000)]),
    [
      [200, 1000],
      [200, 1000],
      [1000, 1000],
      [5000, 5000],
    ],
  );
});
