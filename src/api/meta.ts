/** What every Kubernetes object carries. Times are RFC 3339 text, as on the wire. */
export type StringMap = Readonly<Record<string, string>>;

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly generateName?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string | null;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
}

export interface LocalObjectReference {
  readonly name?: string;
}

export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface LabelSelector {
  readonly matchLabels?: StringMap;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

/** A resource list: names such as `cpu` and `memory` to quantities in their text form. */
export type ResourceList = Readonly<Record<string, string>>;
