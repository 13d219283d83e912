import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodSpec } from '../../api/pod.ts';
import { forbiddenSysctl, normalizeSysctl, parseKernelVersion, safeSysctls } from './sysctls.ts';

const setting = (name: string, spec: Partial<PodSpec> = {}): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [], securityContext: { sysctls: [{ name, value: '1' }] }, ...spec },
});
const safe = safeSysctls({ major: 6, minor: 1 });

test('safe sysctls, and those that the configuration allows', () => {
  const cases: readonly (readonly [string, readonly string[], string | undefined])[] = [
    ['net.ipv4.tcp_syncookies', [], undefined],
    ['net/ipv4/tcp_syncookies', [], undefined],
    ['kernel.msgmax', [], 'forbidden sysctl: "kernel.msgmax" not allowlisted'],
    ['kernel.msgmax', ['kernel.msgmax'], undefined],
    ['kernel.msgmax', ['kernel.msg*'], undefined],
    ['kernel/msgmax', ['kernel.msg*'], undefined],
    ['net.core.somaxconn', ['net.core.*'], undefined],
    ['net.ipv4.ip_forward', ['net.core.*'], 'forbidden sysctl: "net.ipv4.ip_forward" not allowlisted'],
    ['net.core.somaxconn', ['net/core/*'], undefined],
  ];
  for (const [name, allowed, expected] of cases) {
    assert.equal(forbiddenSysctl(setting(name), [...safe, ...allowed]), expected, name);
  }
});

test('not for a pod that shares the namespace with the node', () => {
  const cases: readonly (readonly [string, Partial<PodSpec>, string | undefined])[] = [
    [
      'net.ipv4.tcp_syncookies',
      { hostNetwork: true },
      'forbidden sysctl: "net.ipv4.tcp_syncookies" not allowed with host Net enabled',
    ],
    ['net.ipv4.tcp_syncookies', { hostIPC: true }, undefined],
    [
      'kernel.shm_rmid_forced',
      { hostIPC: true },
      'forbidden sysctl: "kernel.shm_rmid_forced" not allowed with host IPC enabled',
    ],
    ['kernel.msgmax', { hostIPC: true }, 'forbidden sysctl: "kernel.msgmax" not allowed with host IPC enabled'],
    ['fs.mqueue.msg_max', { hostIPC: true }, 'forbidden sysctl: "fs.mqueue.msg_max" not allowed with host IPC enabled'],
    [
      'net.core.somaxconn',
      { hostNetwork: true },
      'forbidden sysctl: "net.core.somaxconn" not allowed with host Net enabled',
    ],
  ];
  for (const [name, spec, expected] of cases) {
    assert.equal(
      forbiddenSysctl(setting(name, spec), [...safe, 'kernel.msg*', 'fs.mqueue.*', 'net.core.somaxconn']),
      expected,
      name,
    );
  }
});

test('older kernels have fewer safe sysctls', () => {
  assert.equal(safe.length, 12);
  assert.equal(safeSysctls({ major: 4, minor: 5 }).includes('net.ipv4.tcp_keepalive_time'), true);
  assert.equal(safeSysctls({ major: 4, minor: 5 }).includes('net.ipv4.tcp_fin_timeout'), false);
  assert.equal(safeSysctls({ major: 3, minor: 10 }).length, 5);
  assert.deepEqual(parseKernelVersion('6.1.0-18-amd64'), { major: 6, minor: 1 });
  assert.deepEqual(parseKernelVersion('strange'), { major: 0, minor: 0 });
});

test('names with slashes', () => {
  assert.equal(normalizeSysctl('net/ipv4/conf/eno2.100/rp_filter'), 'net.ipv4.conf.eno2/100.rp_filter');
  assert.equal(normalizeSysctl('net.ipv4.conf.eno2/100.rp_filter'), 'net.ipv4.conf.eno2/100.rp_filter');
  assert.equal(normalizeSysctl('plain'), 'plain');
});
