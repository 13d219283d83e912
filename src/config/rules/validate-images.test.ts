import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeAll } from '../judge-testing.ts';
import { imagePatternFault } from './image-pattern.ts';

test('image patterns are validated', () => {
  const good = ['busybox', 'docker.io/library/busybox', 'localhost:5000/a/b', 'registry.example/*', 'r.example/team/*'];
  good.push('[fd00::1]:5000/x', 'a__b/c-d.e', 'x/*');
  for (const pattern of good) assert.equal(imagePatternFault(pattern), undefined, pattern);
  const bad = ['', ' busybox', 'busybox ', '*', '/*', 'reg*/x', '*/x', 'r.example/*/x', 'busybox:latest', 'Busybox'];
  bad.push(`r.example/x@sha256:${'0'.repeat(64)}`, 'a//b', 'a/b/', 'a b', `${'a'.repeat(256)}`, 'r.example/x*');
  for (const pattern of bad) assert.equal(typeof imagePatternFault(pattern), 'string', pattern);
});

judgeAll({
  'thresholds in order': { config: { imageGCHighThresholdPercent: 60, imageGCLowThresholdPercent: 50 } },
  'thresholds equal': {
    config: { imageGCHighThresholdPercent: 60, imageGCLowThresholdPercent: 60 },
    problems: [/^imageGCLowThresholdPercent: must be less than imageGCHighThresholdPercent \(60\)/],
  },
  'ages in order': { config: { imageMinimumGCAge: 1000, imageMaximumGCAge: 1001 } },
  'ages equal': {
    config: { imageMinimumGCAge: 60_000, imageMaximumGCAge: 60_000 },
    problems: [/^imageMaximumGCAge: must be greater than imageMinimumGCAge \(1m0s\)/],
  },
  'no parallel pull': { config: { maxParallelImagePulls: 0 }, problems: ['maxParallelImagePulls'] },
  'parallel pulls': { config: { maxParallelImagePulls: 5 } },
  'one pull at a time, said twice': { config: { maxParallelImagePulls: 1, serializeImagePulls: true } },
  'parallel pulls, serialized': {
    config: { maxParallelImagePulls: 2, serializeImagePulls: true },
    problems: [/while serializeImagePulls is true/],
  },
  'verification policy': { config: { imagePullCredentialsVerificationPolicy: 'AlwaysVerify' } },
  'verification policy unknown': {
    config: { imagePullCredentialsVerificationPolicy: 'Sometimes' },
    problems: [/^imagePullCredentialsVerificationPolicy: must be "NeverVerify", .* or "AlwaysVerify"/],
  },
  allowlist: {
    config: {
      imagePullCredentialsVerificationPolicy: 'NeverVerifyAllowlistedImages',
      preloadedImagesVerificationAllowlist: ['r.example/*', 'r.example/a:1'],
    },
    problems: ['preloadedImagesVerificationAllowlist[1]'],
  },
  'allowlist with another policy': {
    config: { preloadedImagesVerificationAllowlist: ['busybox'] },
    problems: [/^preloadedImagesVerificationAllowlist: may be set only with/],
  },
  'without the gate': {
    config: {
      imagePullCredentialsVerificationPolicy: 'AlwaysVerify',
      preloadedImagesVerificationAllowlist: ['busybox'],
    },
    around: { gates: { KubeletEnsureSecretPulledImages: false } },
    problems: ['imagePullCredentialsVerificationPolicy', 'preloadedImagesVerificationAllowlist'],
  },
  'without the gate and unset': { config: {}, around: { gates: { KubeletEnsureSecretPulledImages: false } } },
});
