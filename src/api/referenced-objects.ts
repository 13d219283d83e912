/** Objects of the API server that pods refer to, as far as a kubelet reads them. */
import type { StringMap } from './meta.ts';

/** The metadata that the API server gives every stored object. */
export interface StoredMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly deletionTimestamp?: string;
}

export interface ConfigMap {
  readonly metadata: StoredMeta;
  readonly data?: StringMap;
  /** Base64, as on the wire. */
  readonly binaryData?: StringMap;
  readonly immutable?: boolean;
}

export interface Secret {
  readonly metadata: StoredMeta;
  readonly type?: string;
  /** Base64, as on the wire. */
  readonly data?: StringMap;
  readonly immutable?: boolean;
}

export interface ServiceAccount {
  readonly metadata: StoredMeta;
}

export interface Service {
  readonly metadata: StoredMeta;
  readonly spec?: {
    readonly clusterIP?: string;
    readonly ports?: readonly { readonly name?: string; readonly port: number; readonly protocol?: string }[];
  };
}

export interface RuntimeClass {
  readonly metadata: StoredMeta;
  readonly handler: string;
}

export interface ClusterTrustBundle {
  readonly metadata: StoredMeta;
  readonly spec: { readonly signerName?: string; readonly trustBundle: string };
}
