import { formatDuration } from '../../api/duration.ts';
import { type Findings, listed, problem } from './finding.ts';
import { imagePatternFault } from './image-pattern.ts';
import type { ValidationInput } from './validation-input.ts';

const verificationPolicies = [
  'NeverVerify',
  'NeverVerifyPreloadedImages',
  'NeverVerifyAllowlistedImages',
  'AlwaysVerify',
];

export function* validateImages(input: ValidationInput): Findings {
  yield* validateGarbageCollection(input);
  yield* validatePulls(input);
  yield* validateCredentialVerification(input);
}

function* validateGarbageCollection({ kubelet, features }: ValidationInput): Findings {
  const { imageGCLowThresholdPercent: low, imageGCHighThresholdPercent: high } = kubelet;
  if (low >= high) {
    yield problem('imageGCLowThresholdPercent', low, `must be less than imageGCHighThresholdPercent (${high})`);
  }
  const { imageMinimumGCAge: youngest, imageMaximumGCAge: oldest } = kubelet;
  if (oldest !== 0 && !features.enabled('ImageMaximumGCAge')) {
    yield problem('imageMaximumGCAge', formatDuration(oldest), 'needs the feature gate ImageMaximumGCAge');
  }
  if (oldest > 0 && oldest <= youngest) {
    const rule = `must be greater than imageMinimumGCAge (${formatDuration(youngest)})`;
    yield problem('imageMaximumGCAge', formatDuration(oldest), rule);
  }
}

function* validatePulls({ kubelet }: ValidationInput): Findings {
  const pulls = kubelet.maxParallelImagePulls;
  if (pulls === undefined) return;
  if (pulls < 1) yield problem('maxParallelImagePulls', pulls, 'must be 1 or more');
  if (pulls > 1 && kubelet.serializeImagePulls) {
    yield problem('maxParallelImagePulls', pulls, 'must be 1 while serializeImagePulls is true');
  }
}

function* validateCredentialVerification({ kubelet, features }: ValidationInput): Findings {
  const { imagePullCredentialsVerificationPolicy: policy, preloadedImagesVerificationAllowlist: allowlist } = kubelet;
  const policyPath = 'imagePullCredentialsVerificationPolicy';
  const listPath = 'preloadedImagesVerificationAllowlist';
  if (!features.enabled('KubeletEnsureSecretPulledImages')) {
    const rule = 'must not be set without the feature gate KubeletEnsureSecretPulledImages';
    if (policy !== '') yield problem(policyPath, policy, rule);
    if (allowlist.length > 0) yield problem(listPath, allowlist, rule);
    return;
  }
  if (!verificationPolicies.includes(policy)) {
    yield problem(policyPath, policy, `must be ${listed(verificationPolicies)}`);
  }
  if (allowlist.length > 0 && policy !== 'NeverVerifyAllowlistedImages') {
    yield problem(listPath, allowlist, `may be set only with ${policyPath} NeverVerifyAllowlistedImages`);
  }
  for (const [index, pattern] of allowlist.entries()) {
    const fault = imagePatternFault(pattern);
    if (fault !== undefined) yield problem(`${listPath}[${index}]`, pattern, fault);
  }
}
