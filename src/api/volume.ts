/** Volumes of a pod (core/v1). The sources that are mounted by drivers outside the kubelet keep their raw form. */
import type { ObjectFieldSelector, ResourceFieldSelector } from './container.ts';
import type { LabelSelector, LocalObjectReference } from './meta.ts';

export interface KeyToPath {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}

export interface DownwardApiVolumeFile {
  readonly path: string;
  readonly fieldRef?: ObjectFieldSelector;
  readonly resourceFieldRef?: ResourceFieldSelector;
  readonly mode?: number;
}

export interface VolumeProjection {
  readonly secret?: LocalObjectReference & { readonly items?: readonly KeyToPath[]; readonly optional?: boolean };
  readonly configMap?: LocalObjectReference & { readonly items?: readonly KeyToPath[]; readonly optional?: boolean };
  readonly downwardAPI?: { readonly items?: readonly DownwardApiVolumeFile[] };
  readonly serviceAccountToken?: {
    readonly audience?: string;
    readonly expirationSeconds?: number;
    readonly path: string;
  };
  readonly clusterTrustBundle?: {
    readonly name?: string;
    readonly signerName?: string;
    readonly labelSelector?: LabelSelector;
    readonly optional?: boolean;
    readonly path: string;
  };
  readonly podCertificate?: PodCertificateProjection;
}

export interface PodCertificateProjection {
  readonly signerName: string;
  /** `ED25519`, `ECDSAP256`, `ECDSAP384`, `ECDSAP521`, `RSA3072` or `RSA4096`. */
  readonly keyType: string;
  readonly maxExpirationSeconds?: number;
  readonly credentialBundlePath?: string;
  readonly keyPath?: string;
  readonly certificateChainPath?: string;
  readonly userAnnotations?: Readonly<Record<string, string>>;
}

export interface Volume {
  readonly name: string;
  readonly emptyDir?: { readonly medium?: string; readonly sizeLimit?: string };
  readonly hostPath?: { readonly path: string; readonly type?: string };
  readonly configMap?: LocalObjectReference & {
    readonly items?: readonly KeyToPath[];
    readonly defaultMode?: number;
    readonly optional?: boolean;
  };
  readonly secret?: {
    readonly secretName?: string;
    readonly items?: readonly KeyToPath[];
    readonly defaultMode?: number;
    readonly optional?: boolean;
  };
  readonly downwardAPI?: { readonly items?: readonly DownwardApiVolumeFile[]; readonly defaultMode?: number };
  readonly projected?: { readonly sources?: readonly VolumeProjection[]; readonly defaultMode?: number };
  readonly image?: { readonly reference?: string; readonly pullPolicy?: string };
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean };
  readonly ephemeral?: Readonly<Record<string, unknown>>;
  readonly csi?: {
    readonly driver: string;
    readonly readOnly?: boolean;
    readonly fsType?: string;
    readonly volumeAttributes?: Readonly<Record<string, string>>;
    readonly nodePublishSecretRef?: LocalObjectReference;
  };
  readonly nfs?: { readonly server: string; readonly path: string; readonly readOnly?: boolean };
  readonly iscsi?: Readonly<Record<string, unknown>>;
  readonly fc?: Readonly<Record<string, unknown>>;
  readonly flexVolume?: Readonly<Record<string, unknown>>;
  readonly [otherSource: string]: unknown;
}
