/** Pods with thousands of everything: what looks them over does not compare each with all others. */
import { test } from 'node:test';
import type { Container } from '../../src/api/container.ts';
import type { Pod, PodSpec } from '../../src/api/pod.ts';
import { applyPodDefaults } from '../../src/api/pod-defaults.ts';
import { validatePod } from '../../src/api/pod-validation.ts';
import { orderStops } from '../../src/plan/stop-order.ts';
import { takenPort } from '../../src/pods/rules/host-ports.ts';
import { subPathsOf } from '../../src/runtime/spec/mounts.ts';
import { staticPodFaults } from '../../src/sources/rules/static-pod-rules.ts';
import { downwardPayload } from '../../src/volumes/rules/downward-payload.ts';
import { makeContainer, sidecar } from '../plan/builders.ts';
import { checkGrowth } from './hostile.ts';

const GATES = {
  restartRules: true,
  restartAllContainers: true,
  seLinuxMount: true,
  tolerationComparisons: true,
} as unknown as Parameters<typeof validatePod>[1];

const MANY = 16_000;
const of = (count: number, make: (index: number) => unknown) =>
  Array.from({ length: count }, (_, index) => make(index));
const podWith = (spec: object, container: object = {}, metadata: object = {}): Pod =>
  applyPodDefaults({
    metadata: { name: 'x', namespace: 'n', uid: 'u', ...metadata },
    spec: { containers: [{ name: 'c', image: 'i', ...container } as Container], ...spec } as PodSpec,
  });

const withVolumes = (count: number): Pod =>
  podWith(
    { volumes: of(count, (n) => ({ name: `v${n}`, emptyDir: {} })) },
    {
      volumeMounts: of(count, (n) => ({ name: `v${n}`, mountPath: `/v${n}`, subPathExpr: '$(A)' })),
      volumeDevices: of(count, (n) => ({ name: `w${n}`, devicePath: `/w${n}` })),
    },
  );

const PODS: Readonly<Record<string, (count: number) => Pod>> = {
  containers: (count) => podWith({ containers: of(count, (n) => ({ name: `c${n}`, image: 'i' })) }),
  'init containers': (count) => podWith({ initContainers: of(count, (n) => ({ name: `i${n}`, image: 'i' })) }),
  variables: (count) => podWith({}, { env: of(count, (n) => ({ name: `V${n}`, value: `$(V${n - 1})` })) }),
  ports: (count) => podWith({}, { ports: of(count, (n) => ({ containerPort: 1 + n, hostPort: 1 + n })) }),
  'volumes, mounts and devices': withVolumes,
  sysctls: (count) => podWith({ securityContext: { sysctls: of(count, (n) => ({ name: `net.a${n}`, value: '1' })) } }),
  'spread constraints': (count) =>
    podWith({
      topologySpreadConstraints: of(count, (n) => ({
        topologyKey: `k${n}`,
        maxSkew: 1,
        whenUnsatisfiable: 'DoNotSchedule',
      })),
    }),
  'label keys': (count) =>
    podWith({
      topologySpreadConstraints: [
        { topologyKey: 'k', matchLabelKeys: of(count, (n) => `k${n}`), mismatchLabelKeys: of(count, (n) => `l${n}`) },
      ],
    }),
  claims: (count) =>
    podWith(
      { resourceClaims: of(count, (n) => ({ name: `c${n}`, resourceClaimName: 'x' })) },
      { resources: { claims: of(count, (n) => ({ name: `d${n}` })) } },
    ),
  'annotations of profiles': (count) => {
    const keys = of(count, (n) => [`container.apparmor.security.beta.kubernetes.io/c${n}`, 'unconfined'] as const);
    const containers = of(count, (n) => ({ name: `d${n}`, image: 'i' }));
    return podWith({ containers }, {}, { annotations: Object.fromEntries(keys as [string, string][]) });
  },
};

for (const [name, make] of Object.entries(PODS)) {
  test(`large pods: validation of many ${name}`, () => {
    const run = (pod: Pod) => [validatePod(pod, GATES), staticPodFaults(pod, { preventApiReferences: true })];
    checkGrowth({ run, longest: MANY }, make, name);
  });
}

test('large pods: host ports of two', () => {
  const make = (count: number, first = 1) =>
    podWith({}, { ports: of(count, (n) => ({ containerPort: 1, hostPort: first + n })) });
  const run = (pod: Pod) => takenPort(pod, [make(pod.spec.containers[0]?.ports?.length ?? 0, MANY + 1)]);
  checkGrowth({ run, longest: 2 * MANY }, (count) => make(count), 'ports');
});

test('large pods: sub-paths of many mounts', () => {
  const run = (pod: Pod) => {
    const env = of(pod.spec.volumes?.length ?? 0, (n) => ({ name: `V${n}`, value: 'v' })) as {
      name: string;
      value: string;
    }[];
    return pod.spec.containers.map((container) => subPathsOf(pod, container, [...env, { name: 'A', value: 'a' }]));
  };
  checkGrowth({ run, longest: MANY }, withVolumes, 'mounts');
});

test('large pods: the order in which sidecars stop', () => {
  const make = (count: number) => podWith({ initContainers: of(count, (n) => sidecar(`s${n}`)) });
  const run = (pod: Pod) =>
    orderStops(
      pod,
      (pod.spec.initContainers ?? []).map(({ name }) => makeContainer(name)),
    );
  checkGrowth({ run, longest: 1200 }, make, 'sidecars');
});

test('large pods: files that all show the same annotations', () => {
  const annotations = { a: 'x'.repeat(200_000) };
  const items = (count: number) =>
    of(count, (n) => ({ path: `p${n}`, fieldRef: { fieldPath: 'metadata.annotations' } })) as { path: string }[];
  const run = (pod: Pod) =>
    downwardPayload({ pod, items: items(5000), defaultMode: 0o644, nodeAllocatable: {}, podLevel: true });
  checkGrowth({ run, longest: 8 }, () => podWith({}, {}, { annotations }), 'files');
});
