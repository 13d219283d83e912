import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../../api/container.ts';
import { containerId, podUid } from '../../api/ids.ts';
import type { ContainerRunState, ObservedContainer } from '../../model/observation.ts';
import { type ProbeKey, planProbes } from './plan-probes.ts';
import type { ProbedView } from './wanted.ts';

const probe = { exec: { command: ['x'] } };
const container: Container = { name: 'c', startupProbe: probe, readinessProbe: probe, livenessProbe: probe };

function view(state: ContainerRunState, step: ProbedView['step'] = 'syncing', id = 'c-1'): ProbedView {
  const seen = { id: containerId(id), name: 'c', state, startedAt: 0 } as unknown as ObservedContainer;
  return {
    uid: podUid('u'),
    pod: { metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec: { containers: [container] } },
    step,
    observation: { uid: podUid('u'), name: 'p', namespace: 'n', takenAt: 0, sandboxes: [], containers: [seen] },
  };
}

const key = (type: ProbeKey['type'], id = 'c-1'): ProbeKey => ({ type, id: containerId(id) });
const known = [key('startup'), key('readiness'), key('liveness')];

function plan(given: ProbedView, probes: readonly ProbeKey[], started = true) {
  const { remove, begin, pause } = planProbes(given, probes, () => started);
  const types = (some: readonly { readonly type: string }[]) => some.map(({ type }) => type);
  return { remove: types(remove), begin: types(begin), pause: types(pause) };
}

test('the startup probe first, the others once it has passed', () => {
  assert.deepEqual(plan(view('running'), [], false), { remove: [], begin: ['startup'], pause: [] });
  assert.deepEqual(plan(view('running'), [key('startup')]), {
    remove: [],
    begin: ['readiness', 'liveness'],
    pause: [],
  });
  assert.deepEqual(plan(view('running'), known), { remove: [], begin: [], pause: [] });
});

test('the probes of a container that is gone go, those of its successor begin', () => {
  assert.deepEqual(plan(view('exited'), known).remove, ['startup', 'readiness', 'liveness']);
  const next = plan(view('running', 'syncing', 'c-2'), known, false);
  assert.deepEqual(next, { remove: ['startup', 'readiness', 'liveness'], begin: ['startup'], pause: [] });
});

test('a container in an unknown state keeps its probes and gets no other', () => {
  assert.deepEqual(plan(view('unknown'), [key('startup')]), { remove: [], begin: [], pause: [] });
});

test('while the pod ends only its readiness is probed', () => {
  assert.deepEqual(plan(view('running', 'terminating'), known).pause, ['startup', 'liveness']);
  assert.deepEqual(plan(view('running', 'terminated'), known).remove, ['startup', 'readiness', 'liveness']);
});
