import { judgeAll, type Surroundings } from '../judge-testing.ts';
import { defaultSettings } from '../settings.ts';

const joined = { settings: { api: { ...defaultSettings.api, kubeconfig: '/etc/kubelet.conf' } } };

function named(hostnameOverride: string): Surroundings {
  return { settings: { node: { ...defaultSettings.node, hostnameOverride } } };
}

judgeAll({
  taints: {
    config: {
      registerWithTaints: [
        { key: 'a', value: 'b', effect: 'NoSchedule' },
        { key: 'example.com/x', value: '', effect: 'NoExecute' },
      ],
    },
  },
  'taints with every mistake': {
    config: {
      registerWithTaints: [
        { key: 'a b', value: 'c d', effect: 'Sometimes' },
        { key: '', value: '', effect: 'PreferNoSchedule' },
      ],
    },
    problems: [
      'registerWithTaints[0].key',
      'registerWithTaints[0].value',
      /^registerWithTaints\[0\]\.effect: must be "NoSchedule"/,
      'registerWithTaints[1].key',
    ],
  },
  'taint without effect': {
    config: { registerWithTaints: [{ key: 'a', value: '', effect: '' }] },
    warnings: ['registerWithTaints[0].effect'],
  },
  'host name': { config: {}, around: named(' Node-1.example ') },
  'host name blank': { config: {}, around: named('  '), problems: [/^--hostname-override: must not be blank/] },
  'host name impossible': { config: {}, around: named('my_node'), warnings: ['--hostname-override'] },
  'change detection': { config: { configMapAndSecretChangeDetectionStrategy: 'Cache' }, around: joined },
  'change detection unknown': {
    config: { configMapAndSecretChangeDetectionStrategy: 'Moon' },
    around: joined,
    problems: [/^configMapAndSecretChangeDetectionStrategy: must be "Get", "Cache" or "Watch"/],
  },
  'change detection unknown, nothing to detect': {
    config: { configMapAndSecretChangeDetectionStrategy: 'Moon' },
    warnings: ['configMapAndSecretChangeDetectionStrategy'],
  },
  'content type': { config: { contentType: 'application/json' } },
  'content type unknown': { config: { contentType: 'text/plain' }, warnings: ['contentType'] },
  'hidden metrics': { config: { showHiddenMetricsForVersion: '1.35' } },
  'hidden metrics of another version': {
    config: { showHiddenMetricsForVersion: '1.34' },
    problems: [/^showHiddenMetricsForVersion: must be left out or 1\.35/],
  },
});
