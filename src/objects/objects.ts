/**
 * What the API server has that pods here refer to: secrets, config maps, tokens, services, runtime classes, trust bundles and
 * certificates. The front door.
 */
import type { LabelSelector } from '../api/meta.ts';
import type { Parsed } from '../api/parsed.ts';
import type { Pod } from '../api/pod.ts';
import type { ConfigMap, Secret, ServiceAccount } from '../api/referenced-objects.ts';
import type { Part } from '../base/lifecycle.ts';

/** Missing: the API server says that there is none; the message is the reference's (`secret "x" not found`). */
export type ObjectAnswer<T> =
  | { readonly kind: 'found'; readonly object: T }
  | { readonly kind: 'missing'; readonly message: string };

export interface TokenWish {
  readonly pod: { readonly uid: string; readonly name: string; readonly namespace: string };
  readonly serviceAccountName: string;
  /** None: the API server's own. */
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  /** Refuses a token of another account with the same name. */
  readonly serviceAccountUid?: string;
}

/** Times are wall clock, milliseconds. */
export interface BoundToken {
  readonly token: string;
  readonly expiresAt: number;
  /** Ask again then: it is newer. */
  readonly refreshAt: number;
}

export type TrustBundleWish =
  | { readonly name: string }
  /** Without a selector: nothing is chosen. An empty one chooses all of the signer's. */
  | { readonly signerName: string; readonly labelSelector: LabelSelector | undefined };

/** One `podCertificate` source of a projected volume. */
export interface PodCertificateWish {
  readonly pod: Pod;
  readonly volumeName: string;
  /** The place of the source in the volume. */
  readonly sourceIndex: number;
}

export type PodCertificateAnswer =
  | {
      readonly kind: 'issued';
      /** PEM, PKCS #8. */
      readonly privateKey: string;
      /** PEM, the leaf first. */
      readonly certificateChain: string;
      readonly expiresAt: number;
    }
  /** Listeners are told (`podCertificate`) when it is there. */
  | { readonly kind: 'waiting'; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string };

export interface ObjectChange {
  readonly kind: 'configMap' | 'secret' | 'clusterTrustBundle' | 'podCertificate';
  /** Empty for a trust bundle. */
  readonly namespace: string;
  /** Of a pod certificate: the pod's. */
  readonly name: string;
}

export interface ServiceView {
  readonly name: string;
  readonly namespace: string;
  readonly clusterIp: string;
  readonly ports: readonly { readonly name?: string; readonly port: number; readonly protocol?: string }[];
}

/** Questions that the API server can't answer now throw a CodedError (`unavailable`, `denied`…). */
export interface Objects extends Part {
  /** The pods here, always all of them: what they refer to is kept while they are, and asked for at once. */
  setPods(pods: readonly Pod[]): void;
  /** The first answer is waited for; later ones come from what is kept. */
  configMap(namespace: string, name: string, signal: AbortSignal): Promise<ObjectAnswer<ConfigMap>>;
  secret(namespace: string, name: string, signal: AbortSignal): Promise<ObjectAnswer<Secret>>;
  token(wish: TokenWish, signal: AbortSignal): Promise<BoundToken>;
  serviceAccount(namespace: string, name: string, signal: AbortSignal): Promise<ObjectAnswer<ServiceAccount>>;
  /** Undefined: not known yet. */
  services(): readonly ServiceView[] | undefined;
  /** Waits for the first list. */
  runtimeHandler(runtimeClass: string, signal: AbortSignal): Promise<Parsed<string>>;
  /** PEM, without doubles. */
  clusterTrustBundles(wish: TrustBundleWish, signal: AbortSignal): Promise<Parsed<string>>;
  podCertificate(wish: PodCertificateWish, signal: AbortSignal): Promise<PodCertificateAnswer>;
  /** Calls with each change of something that a pod here refers to. Answers how to stop listening. */
  subscribe(listener: (change: ObjectChange) => void): () => void;
}
