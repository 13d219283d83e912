import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeAll } from '../judge-testing.ts';
import { normalizeSysctl, sysctlPatternFault } from './sysctl-pattern.ts';

test('sysctl patterns are validated', () => {
  const good = [
    'net.*',
    'net.ipv4.ip_forward',
    'net/ipv4/conf/eth0.1/rp_filter',
    'kernel.shm*',
    'kernel.msgmax',
    'fs.mqueue.*',
  ];
  for (const pattern of good) assert.equal(sysctlPatternFault(pattern), undefined, pattern);
  for (const bad of ['', 'NET core', 'net.*.x', 'net..x', '*net', '.net', `net.${'a'.repeat(250)}`]) {
    assert.match(sysctlPatternFault(bad) ?? '', /must be a sysctl/, bad);
  }
  for (const host of ['*', 'vm.swappiness', 'kernel.*', 'kernel.panic', 'net', 'fs.*', 'kernel.sem.x', 'netx.y']) {
    assert.match(sysctlPatternFault(host) ?? '', /not known to be namespaced/, host);
  }
});

test('the first separator of a sysctl name decides which one it uses', () => {
  assert.equal(normalizeSysctl('net.ipv4.conf.eth0/1.rp_filter'), 'net.ipv4.conf.eth0/1.rp_filter');
  assert.equal(normalizeSysctl('net/ipv4/conf/eth0.1/rp_filter'), 'net.ipv4.conf.eth0/1.rp_filter');
});

judgeAll({
  sysctls: {
    config: { allowedUnsafeSysctls: ['net.core.*', 'NET core', 'vm.swappiness'] },
    problems: ['allowedUnsafeSysctls[1]', 'allowedUnsafeSysctls[2]'],
  },
  endpoints: { config: { containerRuntimeEndpoint: 'unix:///a.sock', imageServiceEndpoint: 'unix:///b.sock' } },
  'endpoint over TCP': {
    config: { containerRuntimeEndpoint: 'tcp://127.0.0.1:1', imageServiceEndpoint: 'http://x' },
    problems: [/^containerRuntimeEndpoint: must be a Unix socket/, 'imageServiceEndpoint'],
  },
  'endpoint as a bare path': { config: { containerRuntimeEndpoint: '/a.sock' }, warnings: [/unix:\/\/\/a\.sock/] },
  'quota period at its ends': { config: { cpuCFSQuotaPeriod: 1 } },
  'quota period too short': {
    config: { cpuCFSQuotaPeriod: 0.999 },
    problems: [/^cpuCFSQuotaPeriod: must be between 1ms and 1s/],
  },
  'quota period too long': { config: { cpuCFSQuotaPeriod: 1001 }, problems: ['cpuCFSQuotaPeriod'] },
  'quota period without the gate': {
    config: { cpuCFSQuotaPeriod: 50 },
    around: { gates: { CustomCPUCFSQuotaPeriod: false } },
    problems: [/must be 100ms without the feature gate/],
  },
  'usual quota period without the gate': { config: {}, around: { gates: { CustomCPUCFSQuotaPeriod: false } } },
  'crash loop at its ends': { config: { crashLoopBackOff: { maxContainerRestartPeriod: 300_000 } } },
  'crash loop too short': {
    config: { crashLoopBackOff: { maxContainerRestartPeriod: 999 } },
    problems: [/^crashLoopBackOff\.maxContainerRestartPeriod: must be between 1s and 300s/],
  },
  'crash loop too long': {
    config: { crashLoopBackOff: { maxContainerRestartPeriod: 300_001 } },
    problems: ['crashLoopBackOff.maxContainerRestartPeriod'],
  },
});
