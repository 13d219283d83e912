import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId, sandboxId } from '../../api/ids.ts';
import type { Pod } from '../../api/pod.ts';
import type { StepReport, StepSubject } from '../../model/step.ts';
import { eventsOf } from './events.ts';

const pod: Pod = {
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [{ name: 'c' }], initContainers: [{ name: 'i' }], ephemeralContainers: [{ name: 'e' }] },
};
const failure = { reason: 'R', message: 'm' };
const attempt = 0;
const create = (container: string): StepSubject => ({ kind: 'container-create', container, attempt });
const failed = (subject: StepSubject): StepReport => ({ kind: 'failed', subject, failure });
const image: StepSubject = { kind: 'image', container: 'c', image: 'x', attempt };
const start: StepSubject = { kind: 'container-start', container: 'c', attempt };
const config: StepSubject = { kind: 'container-config', container: 'c', attempt };
const stop: StepSubject = { kind: 'container-stop', container: 'c', id: containerId('id') };
const sandbox: StepSubject = { kind: 'sandbox-create', attempt };
const hook = (kind: 'postStart' | 'preStop'): StepSubject => ({ kind: 'hook', hook: kind, container: 'c' });

const cases: readonly (readonly [string, StepReport, ...string[]])[] = [
  ['created', { kind: 'done', subject: create('c') }, 'Normal Created spec.containers{c}: Container created'],
  ['created, init', { kind: 'done', subject: create('i') }, 'Normal Created spec.initContainers{i}: Container created'],
  [
    'created, ephemeral',
    { kind: 'done', subject: create('e') },
    'Normal Created spec.ephemeralContainers{e}: Container created',
  ],
  ['started', { kind: 'done', subject: start }, 'Normal Started spec.containers{c}: Container started'],
  ['no image', failed(image), 'Warning Failed spec.containers{c}: Error: R'],
  ['no config', failed(config), 'Warning Failed spec.containers{c}: Error: m'],
  ['not created', failed(create('c')), 'Warning Failed spec.containers{c}: Error: m'],
  ['not started', failed(start), 'Warning Failed spec.containers{c}: Error: m'],
  [
    'postStart failed',
    failed(hook('postStart')),
    'Warning FailedPostStartHook spec.containers{c}: PostStartHook failed',
  ],
  ['preStop failed', failed(hook('preStop')), 'Warning FailedPreStopHook spec.containers{c}: PreStopHook failed'],
  [
    'stopping',
    { kind: 'begun', subject: stop, message: 'Stopping container c' },
    'Normal Killing spec.containers{c}: Stopping container c',
  ],
  ['no claims', failed({ kind: 'resource-claims', names: ['x'] }), 'Warning R: m'],
  ['no directories', failed({ kind: 'directories' }), 'Warning R: m'],
  ['no cgroup', failed({ kind: 'cgroup' }), 'Warning R: m'],
  ['no volumes', failed({ kind: 'volumes', names: ['v'] }), 'Warning R: m'],
  ['no sandbox', failed(sandbox), 'Warning R: m'],
  ['a sandbox with a warning', { kind: 'warning', subject: sandbox, failure }, 'Warning R: m'],
  // What volumes report, they record themselves; what ends something is retried and has no event in the reference.
  ['a volume with a warning', { kind: 'warning', subject: { kind: 'volumes', names: ['v'] }, failure }],
  ['pulling', { kind: 'begun', subject: image }],
  ['pulled', { kind: 'done', subject: image }],
  ['queued', { kind: 'queued', subject: sandbox }],
  ['a sandbox', { kind: 'done', subject: sandbox }],
  ['stopped', { kind: 'done', subject: stop }],
  ['not stopped', failed(stop)],
  ['sandbox not stopped', failed({ kind: 'sandbox-stop', id: sandboxId('s') })],
  ['not cleaned up', failed({ kind: 'clean-up', what: 'volumes' })],
];

for (const [name, report, ...texts] of cases) {
  test(`events: ${name}`, () => {
    const events = eventsOf(pod, report);
    const shown = events.map(({ type, reason, container, message }) =>
      container === undefined ? `${type} ${reason}: ${message}` : `${type} ${reason} ${container}: ${message}`,
    );
    assert.deepEqual(shown, texts);
    for (const event of events) assert.equal(event.pod, pod.metadata);
  });
}
