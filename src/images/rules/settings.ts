/** The configuration of images, in the form that this directory uses. */
import type { Config } from '../../config/config.ts';
import type { GarbageSettings } from './garbage.ts';
import { parsePolicy, type Verification } from './verification.ts';

export interface ImageSettings {
  readonly rootDirectory: string;
  readonly pulls: { readonly atOnce: number | undefined; readonly qps: number; readonly burst: number };
  readonly verification: Verification | undefined;
  readonly garbage: GarbageSettings;
  readonly plugins:
    | { readonly configPath: string; readonly binDirectory: string; readonly tokens: boolean }
    | undefined;
}

/** The configuration is validated already: invalid values are not checked for again. */
export function imageSettings({ kubelet, settings, features }: Config): ImageSettings {
  const policy = parsePolicy(kubelet.imagePullCredentialsVerificationPolicy);
  const { providerConfig: configPath, providerBinDir: binDirectory } = settings.credentials;
  const verifies = features.enabled('KubeletEnsureSecretPulledImages') && policy.ok;
  return {
    rootDirectory: settings.directories.root,
    pulls: {
      atOnce: kubelet.serializeImagePulls ? 1 : limitOf(kubelet.maxParallelImagePulls),
      qps: kubelet.registryPullQPS,
      burst: kubelet.registryBurst,
    },
    verification: verifies
      ? { policy: policy.value, allowlist: kubelet.preloadedImagesVerificationAllowlist }
      : undefined,
    garbage: {
      highPercent: kubelet.imageGCHighThresholdPercent,
      lowPercent: kubelet.imageGCLowThresholdPercent,
      minimumAgeMs: kubelet.imageMinimumGCAge,
      maximumAgeMs: kubelet.imageMaximumGCAge,
      keep: settings.images.keep,
    },
    plugins:
      configPath === '' || binDirectory === ''
        ? undefined
        : { configPath, binDirectory, tokens: features.enabled('KubeletServiceAccountTokenForCredentialProviders') },
  };
}

const limitOf = (most: number | null | undefined): number | undefined =>
  most === null || most === undefined || most < 1 ? undefined : most;
