import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../api/pod.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import { createApiSource } from './apiserver.ts';
import { isSameForUs, readApiPod } from './rules/api-pod.ts';

const podOf = (name: string, more: { metadata?: object; spec?: object; status?: object } = {}): Pod => ({
  metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '1', ...more.metadata },
  spec: { containers: [{ name: 'c', image: 'i' }], ...more.spec },
  ...(more.status === undefined ? {} : { status: more.status }),
});
const MIRROR = { annotations: { 'kubernetes.io/config.mirror': 'abc' } };

function listen() {
  const pods: string[][] = [];
  const mirrors: string[][] = [];
  let last: readonly Pod[] = [];
  const source = createApiSource({
    log: createSilentLogger(),
    supervisor: createTestSupervisor(createManualClock()),
    onPods: (list) => {
      last = list;
      pods.push(list.map(({ metadata }) => metadata.name));
    },
    onMirrors: (list) => mirrors.push(list.map(({ metadata }) => metadata.name)),
  });
  return { source, pods, mirrors, last: () => last };
}

describe('the source of the API server', () => {
  test('an object that is no pod costs neither the others of its list nor what was known of it', () => {
    const { source, pods, last } = listen();
    const soon = podOf('b', { metadata: { creationTimestamp: 'soon', labels: { odd: 'yes' } } });
    source.replaced([podOf('a'), null, 7, { metadata: {} }, soon, podOf('c', { spec: { containers: [null] } })]);
    assert.deepEqual(pods, [['a']]);
    source.changed(podOf('b'));
    source.changed(soon);
    source.changed(null);
    source.changed(podOf('d', { status: { conditions: 'none' } }));
    source.replaced([podOf('a'), soon]);
    assert.deepEqual(pods.at(-1), ['a', 'b']);
    assert.equal(last()[1]?.metadata.labels, undefined, 'the last good version');
    source.removed(soon);
    source.removed(undefined);
    assert.deepEqual(pods.at(-1), ['a']);
  });

  test('a first listener that throws stops no other', () => {
    const pods: string[] = [];
    const fail = () => {
      throw new Error('broken');
    };
    const source = createApiSource({
      log: createSilentLogger(),
      supervisor: createTestSupervisor(createManualClock()),
      onPods: (list) => pods.push(list.map(({ metadata }) => metadata.name).join()),
      onMirrors: fail,
      first: { replaced: fail, changed: fail, removed: fail },
    });
    source.replaced([podOf('a')]);
    source.changed(podOf('b'));
    source.removed(podOf('a'));
    assert.deepEqual(pods, ['a', 'a,b', 'b']);
  });

  test('keys such as __proto__ are labels and annotations like others', () => {
    const { source, last } = listen();
    const odd = JSON.parse('{"__proto__":"x","constructor":"y","toString":"z"}');
    source.replaced([podOf('a', { metadata: { labels: odd, annotations: odd } }), podOf('b')]);
    assert.equal(JSON.stringify(last()[0]?.metadata.labels), JSON.stringify(odd));
    assert.equal(last().length, 2);
    source.changed(podOf('a', { metadata: { labels: { ...odd, more: '1' }, annotations: odd } }));
    assert.equal(last()[0]?.metadata.labels?.['more'], '1');
  });

  test('reports pods and mirror pods separately', () => {
    const { source, pods, mirrors } = listen();
    source.replaced([podOf('a'), podOf('m', { metadata: MIRROR })]);
    source.changed(podOf('b'));
    source.removed(podOf('a'));
    source.removed(podOf('m', { metadata: MIRROR }));
    assert.deepEqual(pods, [['a'], ['a', 'b'], ['b']]);
    assert.deepEqual(mirrors, [['m'], []]);
  });

  test('an empty list is an answer too', () => {
    const { source, pods } = listen();
    source.replaced([]);
    assert.deepEqual(pods, [[]]);
  });

  test('does not report what the kubelet itself wrote', () => {
    const { source, pods } = listen();
    source.replaced([podOf('a')]);
    source.changed(podOf('a', { metadata: { resourceVersion: '2' }, status: { phase: 'Running', podIP: '10.0.0.1' } }));
    assert.equal(pods.length, 1);
  });

  test('who did not change is the same object after a new list', () => {
    const { source, last } = listen();
    source.replaced([podOf('a'), podOf('b')]);
    const [before] = last();
    source.replaced([podOf('a', { metadata: { resourceVersion: '9' } }), podOf('b', { spec: { priority: 3 } })]);
    assert.equal(last()[0], before);
    assert.equal(last()[1]?.spec.priority, 3);
  });

  test('a pod that is made a mirror is not run any more', () => {
    const { source, pods, mirrors } = listen();
    source.replaced([podOf('a')]);
    source.changed(podOf('a', { metadata: MIRROR }));
    assert.deepEqual(pods.at(-1), []);
    assert.deepEqual(mirrors.at(-1), ['a']);
  });

  test('leaves out what is no pod, and goes on', () => {
    const { source, pods } = listen();
    source.replaced([{}, podOf('a')]);
    source.changed({ metadata: { name: 'x', namespace: 'y', uid: '../../etc' }, spec: { containers: [] } });
    source.removed('nothing');
    assert.deepEqual(pods, [['a']]);
  });
});

describe('an object of the API server', () => {
  const bad: readonly [string, unknown][] = [
    ['nothing', undefined],
    ['a text', 'pod'],
    ['no metadata', { spec: { containers: [] } }],
    ['no name', { metadata: { namespace: 'a', uid: 'u' }, spec: { containers: [] } }],
    ['a UID that leads elsewhere', podOf('a', { metadata: { uid: 'a/../b' } })],
    ['an empty UID', podOf('a', { metadata: { uid: '' } })],
    ['no containers', { metadata: { name: 'a', namespace: 'a', uid: 'u' }, spec: {} }],
  ];
  for (const [name, object] of bad) test(`${name}: no pod`, () => assert.equal(readApiPod(object).ok, false));

  test('keeps fields that no one knows and leaves out who manages which', () => {
    const read = readApiPod({
      ...podOf('a', { metadata: { managedFields: [{ manager: 'x' }] }, spec: { fromTheFuture: { deep: [1] } } }),
      alsoNew: true,
    });
    assert.ok(read.ok);
    assert.equal('managedFields' in read.value.metadata, false);
    assert.deepEqual((read.value.spec as unknown as { fromTheFuture: unknown }).fromTheFuture, { deep: [1] });
  });
});

describe('two versions of a pod', () => {
  const ready = { type: 'Ready', status: 'True' };
  const gate = { type: 'example.com/gate', status: 'False' };
  const cases: readonly [string, Pod, boolean][] = [
    ['another version', podOf('a', { metadata: { resourceVersion: '5' } }), true],
    ['a status of the kubelet', podOf('a', { status: { phase: 'Running', conditions: [ready] } }), true],
    ['a label', podOf('a', { metadata: { labels: { x: 'y' } } }), false],
    ['a deletion', podOf('a', { metadata: { deletionTimestamp: 't', deletionGracePeriodSeconds: 5 } }), false],
    ['a debug container', podOf('a', { spec: { ephemeralContainers: [{ name: 'd', image: 'i' }] } }), false],
    ['a deadline', podOf('a', { spec: { activeDeadlineSeconds: 9 } }), false],
    ['a readiness gate', podOf('a', { status: { conditions: [ready, gate] } }), false],
    ['its end', podOf('a', { status: { phase: 'Failed' } }), false],
  ];
  for (const [name, after, same] of cases) {
    test(`${name}: ${same ? 'nothing to do' : 'to be looked at'}`, () => {
      assert.equal(isSameForUs(podOf('a', { status: { phase: 'Pending' } }), after), same);
    });
  }
});
