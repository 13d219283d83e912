import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerPort } from '../../api/container.ts';
import type { Pod, PodSpec } from '../../api/pod.ts';
import { takenPort } from './host-ports.ts';

const podOf = (spec: Partial<PodSpec>): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [], ...spec },
});
const having = (port: Partial<ContainerPort>) =>
  podOf({ containers: [{ name: 'c', ports: [{ containerPort: 1, ...port }] }] });

test('ports conflict where address, protocol and number do', () => {
  const cases: readonly (readonly [Partial<ContainerPort>, Partial<ContainerPort>, boolean])[] = [
    [{ hostPort: 80 }, { hostPort: 80 }, true],
    [{ hostPort: 80 }, { hostPort: 81 }, false],
    [{ hostPort: 80 }, { hostPort: 80, protocol: 'TCP' }, true],
    [{ hostPort: 80, protocol: 'UDP' }, { hostPort: 80 }, false],
    [{ hostPort: 80, hostIP: '192.0.2.1' }, { hostPort: 80 }, true],
    [{ hostPort: 80 }, { hostPort: 80, hostIP: '192.0.2.1' }, true],
    [{ hostPort: 80, hostIP: '192.0.2.1' }, { hostPort: 80, hostIP: '192.0.2.2' }, false],
    [{ hostPort: 80, hostIP: '192.0.2.1' }, { hostPort: 80, hostIP: '192.0.2.1' }, true],
    [{}, {}, false],
    [{ hostPort: 0 }, { hostPort: 0 }, false],
  ];
  for (const [wanted, taken, expected] of cases) {
    assert.equal(takenPort(having(wanted), [having(taken)]) !== undefined, expected, JSON.stringify([wanted, taken]));
  }
});

test('sidecars hold ports, other init containers do not', () => {
  const ports = [{ containerPort: 1, hostPort: 80 }];
  const sidecar = podOf({ initContainers: [{ name: 's', ports, restartPolicy: 'Always' }] });
  const init = podOf({ initContainers: [{ name: 'i', ports }] });
  assert.notEqual(takenPort(having({ hostPort: 80 }), [sidecar]), undefined);
  assert.equal(takenPort(having({ hostPort: 80 }), [init]), undefined);
});
