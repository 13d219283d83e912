/** The fields of the objects beside pods. */
import {
  ANYTHING,
  BOOL,
  each,
  INT32,
  INT64,
  list,
  map,
  STRING,
  type StructKind,
  struct,
  TIME,
} from '../../api/object-schema.ts';
import { POD } from '../../api/pod-schema.ts';

const META = POD.fields['metadata'] ?? ANYTHING;
const object = (fields: StructKind['fields']): StructKind =>
  struct({ ...each(STRING, 'apiVersion kind'), metadata: META, ...fields });

const REFERENCE = struct(each(STRING, 'kind namespace name uid apiVersion resourceVersion fieldPath'));

export const CONFIG_MAP = object({ ...each(map(STRING), 'data binaryData'), immutable: BOOL });
export const SECRET = object({ ...each(map(STRING), 'data stringData'), type: STRING, immutable: BOOL });
export const SERVICE_ACCOUNT = object({
  secrets: list(REFERENCE),
  imagePullSecrets: list(struct({ name: STRING })),
  automountServiceAccountToken: BOOL,
});
export const NAMESPACE = object({
  spec: struct({ finalizers: list(STRING) }),
  status: struct({ phase: STRING, conditions: list(ANYTHING) }),
});
export const EVENT = object({
  involvedObject: REFERENCE,
  related: REFERENCE,
  ...each(STRING, 'reason message type action reportingComponent reportingInstance'),
  source: struct(each(STRING, 'component host')),
  ...each(TIME, 'firstTimestamp lastTimestamp'),
  eventTime: ANYTHING,
  count: INT32,
  series: ANYTHING,
});
export const NODE = object({
  spec: struct({
    ...each(STRING, 'podCIDR providerID externalID'),
    podCIDRs: list(STRING),
    unschedulable: BOOL,
    taints: list(struct({ ...each(STRING, 'key value effect'), timeAdded: TIME })),
    configSource: ANYTHING,
  }),
  status: ANYTHING,
});
export const LEASE = object({
  spec: struct({
    ...each(STRING, 'holderIdentity strategy preferredHolder acquireTime renewTime'),
    ...each(INT32, 'leaseDurationSeconds leaseTransitions'),
  }),
});
export const RUNTIME_CLASS = object({ handler: STRING, overhead: ANYTHING, scheduling: ANYTHING });
/** Options of a delete. */
export const DELETE_OPTIONS = struct({
  ...each(STRING, 'apiVersion kind propagationPolicy'),
  gracePeriodSeconds: INT64,
  orphanDependents: BOOL,
  dryRun: list(STRING),
  preconditions: struct(each(STRING, 'uid resourceVersion')),
  ignoreStoreReadErrorWithClusterBreakingPotential: BOOL,
});
