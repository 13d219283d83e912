import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from '../../config/config.ts';
import { resolveFeatures } from '../../config/features/features.ts';
import { applyDefaults } from '../../config/schema/defaults.ts';
import type { PartialKubeletConfiguration } from '../../config/schema/kubelet-configuration.ts';
import { defaultSettings, type Settings } from '../../config/settings.ts';
import { imageSettings } from './settings.ts';

function settingsOf(
  kubelet: PartialKubeletConfiguration,
  gates: Readonly<Record<string, boolean>> = {},
  credentials: Settings['credentials'] = { providerConfig: '', providerBinDir: '' },
) {
  const { features } = resolveFeatures(gates);
  const config: Pick<Config, 'kubelet' | 'settings' | 'features'> = {
    kubelet: applyDefaults(kubelet),
    settings: { ...defaultSettings, credentials },
    features,
  };
  return imageSettings(config as Config);
}

test('the defaults', () => {
  assert.deepEqual(settingsOf({}), {
    rootDirectory: '/var/lib/kubelet',
    pulls: { atOnce: 1, qps: 5, burst: 10 },
    verification: { policy: 'NeverVerifyPreloadedImages', allowlist: [] },
    garbage: { highPercent: 85, lowPercent: 80, minimumAgeMs: 120_000, maximumAgeMs: 0, keep: [] },
    plugins: undefined,
  });
});

test('how many pulls at once', () => {
  assert.equal(settingsOf({ serializeImagePulls: false }).pulls.atOnce, undefined);
  assert.equal(settingsOf({ serializeImagePulls: false, maxParallelImagePulls: 4 }).pulls.atOnce, 4);
  assert.equal(settingsOf({ maxParallelImagePulls: 4 }).pulls.atOnce, 4, 'which turns serial pulls off');
  assert.equal(settingsOf({ maxParallelImagePulls: 1 }).pulls.atOnce, 1);
});

test('access, plugins, removal', () => {
  assert.equal(settingsOf({}, { KubeletEnsureSecretPulledImages: false }).verification, undefined);
  const listed = settingsOf({
    imagePullCredentialsVerificationPolicy: 'NeverVerifyAllowlistedImages',
    preloadedImagesVerificationAllowlist: ['a.io/*'],
  });
  assert.deepEqual(listed.verification, { policy: 'NeverVerifyAllowlistedImages', allowlist: ['a.io/*'] });
  const credentials = { providerConfig: '/c.yaml', providerBinDir: '/bin' };
  const plugins = { configPath: '/c.yaml', binDirectory: '/bin' };
  assert.deepEqual(settingsOf({}, {}, credentials).plugins, { ...plugins, tokens: true });
  const off = { KubeletServiceAccountTokenForCredentialProviders: false };
  assert.deepEqual(settingsOf({}, off, credentials).plugins, { ...plugins, tokens: false });
  assert.equal(settingsOf({ imageMaximumGCAge: 3_600_000 }).garbage.maximumAgeMs, 3_600_000);
});
