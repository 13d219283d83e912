import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodSpec } from '../../api/pod.ts';
import { CONFIG_MIRROR, CONFIG_SOURCE } from '../../api/pod-traits.ts';
import { pressureRejection } from './node-pressure.ts';

const podOf = (spec: Partial<PodSpec> = {}, annotations: Record<string, string> = {}): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u', annotations },
  spec: { containers: [{ name: 'c' }], ...spec },
});
const memoryTaint = 'node.kubernetes.io/memory-pressure';
const tolerating = (toleration: object) => podOf({ tolerations: [toleration] } as Partial<PodSpec>);

const PODS = {
  'best-effort': podOf(),
  burstable: podOf({ containers: [{ name: 'c', resources: { requests: { cpu: '1m' } } }] }),
  'tolerates memory pressure': tolerating({ key: memoryTaint, operator: 'Exists', effect: 'NoSchedule' }),
  'tolerates everything': tolerating({ operator: 'Exists', effect: '' }),
  'tolerates another effect': tolerating({ key: memoryTaint, operator: 'Exists', effect: 'NoExecute' }),
  'tolerates disk pressure': tolerating({ key: 'node.kubernetes.io/disk-pressure', operator: 'Exists' }),
  'high priority': podOf({ priority: 1_999_999_999 }),
  critical: podOf({ priority: 2_000_000_000 }),
  static: podOf({}, { [CONFIG_SOURCE]: 'file' }),
  mirror: podOf({}, { [CONFIG_MIRROR]: 'x' }),
} as const;
const ALWAYS = ['critical', 'static', 'mirror'];

for (const [under, conditions, admitted] of [
  [[], '', Object.keys(PODS)],
  [['memory'], 'MemoryPressure', ['burstable', 'tolerates memory pressure', 'tolerates everything', ...ALWAYS]],
  [['disk'], 'DiskPressure', ALWAYS],
  [['pid'], 'PIDPressure', ALWAYS],
  [['memory', 'disk'], 'MemoryPressure DiskPressure', ALWAYS],
] as const) {
  test(`a node short of ${under.join(' and ') || 'nothing'} takes ${admitted.join(', ')}`, () => {
    const short = new Set<string>(under);
    const pressure = { memory: short.has('memory'), disk: short.has('disk'), pid: short.has('pid') };
    for (const [name, pod] of Object.entries(PODS)) {
      const message = `The node had condition: [${conditions}]. `;
      const expected = (admitted as readonly string[]).includes(name) ? undefined : { reason: 'Evicted', message };
      assert.deepEqual(pressureRejection(pod, pressure, { taintComparison: false, podLevel: true }), expected, name);
    }
  });
}
