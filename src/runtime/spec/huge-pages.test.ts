import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/pod.ts';
import { hugePageLimits, hugePageSizeName } from './huge-pages.ts';

test('names of page sizes', () => {
  const cases: Readonly<Record<string, string | undefined>> = {
    '2Mi': '2MB',
    '1Gi': '1GB',
    '64Ki': '64KB',
    '2048Ki': '2MB',
    '16Gi': '16GB',
    '1': '1B',
    '2Pi': '2PB',
    '2M': undefined,
    '0': undefined,
    '-1Mi': undefined,
    big: undefined,
    '': undefined,
  };
  for (const [size, want] of Object.entries(cases)) assert.equal(hugePageSizeName(size), want, size);
});

test('a limit for each size that the kernel has, own before pod', () => {
  const container = { name: 'c', resources: { limits: { 'hugepages-2Mi': '4Mi', 'hugepages-x': '1', cpu: '1' } } };
  const pod: Pod = {
    metadata: { name: 'p', namespace: 'n', uid: 'u' },
    spec: { containers: [container], resources: { limits: { 'hugepages-2Mi': '8Mi', 'hugepages-1Gi': '1Gi' } } },
  };
  const sizes = ['2MB', '1GB', '64KB'];
  const limits = (podLevel: boolean) =>
    hugePageLimits(pod, container, { sizes, podLevel }).map(({ pageSize, limit }) => `${pageSize}=${limit}`);
  assert.deepEqual(limits(true), ['2MB=4194304', '1GB=1073741824', '64KB=0']);
  assert.deepEqual(limits(false), ['2MB=4194304', '1GB=0', '64KB=0']);
});
