import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadLife } from '../../../tests/recorded/lives.ts';
import { containerInput } from '../../../tests/recorded/node.ts';
import type { Container } from '../../api/container.ts';
import { Signal } from '../../wire/gen/cri-runtime-v1.ts';
import { type ContainerInput, containerLogPath, makeContainerConfig } from './container.ts';

const life = loadLife('best-effort');
const [recorded] = life.pod.spec.containers;

function make(container: Partial<Container>, more: Partial<ContainerInput> = {}) {
  const whole: Container = { name: 'c', ...recorded, ...container };
  const run = {
    container: whole,
    env: [{ name: 'A', value: 'one' }],
    attempt: 4,
    imageRef: 'sha256:1',
    terminationLog: undefined,
  };
  const made = makeContainerConfig({ ...containerInput(life, run), ...more });
  return made.kind === 'problem' ? made.message : made.config;
}

function ready(...words: Parameters<typeof make>) {
  const made = make(...words);
  assert.ok(typeof made === 'object', String(made));
  return made;
}

test('command, arguments and attempt', () => {
  const config = ready({ command: ['sh', '$(A)'], args: ['$$(A)', '$(B)'] });
  assert.deepEqual(config.command, ['sh', 'one']);
  assert.deepEqual(config.args, ['$(A)', '$(B)']);
  assert.deepEqual(config.metadata, { name: 'c', attempt: 4 });
  assert.equal(config.logPath, 'c/4.log');
  assert.equal(containerLogPath('side', 0), 'side/0.log');
  assert.equal(config.image?.image, 'sha256:1');
});

test('variables travel as bytes', () => {
  const env = [
    { name: 'T', value: 'ü' },
    { name: 'R', value: new Uint8Array([0xff]) },
  ];
  assert.deepEqual(ready({}, { env }).envs, [
    { key: 'T', value: new Uint8Array([0xc3, 0xbc]) },
    { key: 'R', value: new Uint8Array([0xff]) },
  ]);
});

test('raw devices of volumes come after those of device plugins', () => {
  const blockDevices = new Map([
    ['disk', { hostPath: '/dev/loop0', readOnly: false }],
    ['rom', { hostPath: '/dev/loop1', readOnly: true }],
  ]);
  const extras = {
    mounts: [],
    devices: [{ hostPath: '/dev/gpu', containerPath: '/dev/gpu', permissions: 'rw' }],
    cdiDevices: ['x.com/gpu=0'],
    annotations: { dev: 'y' },
  };
  const volumeDevices = [
    { name: 'disk', devicePath: '/dev/xvda' },
    { name: 'rom', devicePath: '/dev/xvdb' },
  ];
  const config = ready({ volumeDevices }, { blockDevices, extras });
  assert.deepEqual(config.devices, [
    { hostPath: '/dev/gpu', containerPath: '/dev/gpu', permissions: 'rw' },
    { hostPath: '/dev/loop0', containerPath: '/dev/xvda', permissions: 'mrw' },
    { hostPath: '/dev/loop1', containerPath: '/dev/xvdb', permissions: 'r' },
  ]);
  assert.deepEqual(config.cdiDevices, [{ name: 'x.com/gpu=0' }]);
  assert.equal(config.annotations?.['dev'], 'y');
  assert.equal(
    make({ volumeDevices: [{ name: 'none', devicePath: '/x' }] }),
    'cannot find volume "none" to pass into container "c"',
  );
  assert.equal(
    make({ volumeDevices: [{ name: 'disk', devicePath: 'x' }] }),
    'error DevicePath `x` must be an absolute path',
  );
});

test('the stop signal, behind its gate', () => {
  const signal = (stopSignal: string | undefined, on = true) =>
    ready({ lifecycle: stopSignal === undefined ? {} : { stopSignal } }, { gates: () => on }).stopSignal;
  assert.equal(signal('SIGUSR1'), Signal.SIGUSR1);
  assert.equal(signal('SIGRTMIN+3'), Signal.SIGRTMINPLUS3);
  assert.equal(signal('SIGRTMAX-2'), Signal.SIGRTMAXMINUS2);
  assert.equal(signal('SIGODD'), Signal.RUNTIME_DEFAULT);
  assert.equal(signal(undefined), Signal.RUNTIME_DEFAULT);
  assert.equal(signal('SIGUSR1', false), Signal.RUNTIME_DEFAULT);
});

test('what fails first is reported: mounts, then the user, then profiles', () => {
  const broken: Partial<Container> = {
    volumeMounts: [{ name: 'none', mountPath: '/x' }],
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'Localhost' } },
  };
  assert.match(String(make(broken)), /^cannot find volume "none"/);
  assert.match(String(make({ ...broken, volumeMounts: [] })), /image will run as root/);
  assert.match(
    String(make({ ...broken, volumeMounts: [] }, { imageUser: { kind: 'uid', uid: 5 } })),
    /^localhostProfile must be set/,
  );
});

test('the gate of recursively read-only mounts', () => {
  const [volume] = life.pod.spec.volumes ?? [];
  const mount = { name: volume?.name ?? '', mountPath: '/x', readOnly: true, recursiveReadOnly: 'IfPossible' } as const;
  const rro = (on: boolean) => ready({ volumeMounts: [mount] }, { gates: () => on }).mounts?.[0]?.recursiveReadOnly;
  assert.equal(rro(true), true);
  assert.equal(rro(false), false);
});
