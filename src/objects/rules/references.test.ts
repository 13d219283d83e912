import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodSpec } from '../../api/pod.ts';
import { referencesOf } from './references.ts';

const pod = (spec: Partial<PodSpec>): Pod => ({
  metadata: { name: 'web', namespace: 'default', uid: 'u1' },
  spec: { containers: [{ name: 'c' }], ...spec },
});

const env = (name: string) => [
  { name: 'A', valueFrom: { configMapKeyRef: { name: `${name}-map`, key: 'k' } } },
  { name: 'B', valueFrom: { secretKeyRef: { name: `${name}-secret`, key: 'k', optional: true } } },
  { name: 'C', value: 'plain' },
];

const volume = (source: Readonly<Record<string, unknown>>): Partial<PodSpec> => ({
  volumes: [{ name: 'v', ...source }],
});

const CASES: Readonly<Record<string, readonly [Partial<PodSpec>, readonly string[]]>> = {
  none: [{}, []],
  'env of containers of all kinds': [
    {
      initContainers: [{ name: 'i', env: env('init') }],
      containers: [{ name: 'c', env: env('main') }],
      ephemeralContainers: [{ name: 'e', env: env('debug') }],
    },
    [
      'configMap init-map',
      'secret init-secret',
      'configMap main-map',
      'secret main-secret',
      'configMap debug-map',
      'secret debug-secret',
    ],
  ],
  envFrom: [
    { containers: [{ name: 'c', envFrom: [{ configMapRef: { name: 'm' } }, { secretRef: { name: 's' } }, {}] }] },
    ['configMap m', 'secret s'],
  ],
  'pull secrets, empty names left out': [{ imagePullSecrets: [{ name: 'p' }, { name: '' }, {}] }, ['secret p']],
  'config map volume': [volume({ configMap: { name: 'm' } }), ['configMap m shown']],
  'secret volume': [volume({ secret: { secretName: 's' } }), ['secret s shown']],
  'projected volume': [
    volume({
      projected: {
        sources: [
          { configMap: { name: 'm' } },
          { secret: { name: 's' } },
          { serviceAccountToken: { path: 'token' } },
          { downwardAPI: {} },
        ],
      },
    }),
    ['configMap m shown', 'secret s shown'],
  ],
  'CSI driver': [volume({ csi: { driver: 'd', nodePublishSecretRef: { name: 's' } } }), ['secret s shown']],
  'Azure file': [volume({ azureFile: { secretName: 's', shareName: 'x' } }), ['secret s shown']],
  iSCSI: [volume({ iscsi: { secretRef: { name: 's' } } }), ['secret s shown']],
  FlexVolume: [volume({ flexVolume: { driver: 'd', secretRef: { name: 's' } } }), ['secret s shown']],
  'FlexVolume without a secret': [volume({ flexVolume: { driver: 'd' } }), []],
  'a strange secretRef': [volume({ rbd: { secretRef: 7 } }), []],
  'one object in many places, shown by one of them': [
    { containers: [{ name: 'c', env: env('x') }], ...volume({ configMap: { name: 'x-map' } }) },
    ['configMap x-map shown', 'secret x-secret'],
  ],
};

for (const [name, [spec, expected]] of Object.entries(CASES)) {
  test(`references of a pod: ${name}`, () => {
    const found = referencesOf(pod(spec)).map((one) => `${one.kind} ${one.name}${one.byVolume ? ' shown' : ''}`);
    assert.deepEqual(found, expected);
  });
}
