/** The fields of a Pod (core/v1), without its status: that is the kubelet's to write. */
import {
  ANYTHING,
  BOOL,
  each,
  INT_OR_STRING,
  INT32,
  INT64,
  list,
  map,
  QUANTITY,
  STRING,
  struct,
  TIME,
} from './object-schema.ts';
import { FIELD_REF, LABEL_SELECTOR, OBJECT_NAME, RESOURCE_FIELD_REF, VOLUME } from './volume-schema.ts';

const META = struct({
  ...each(STRING, 'name generateName namespace selfLink uid resourceVersion'),
  ...each(TIME, 'creationTimestamp deletionTimestamp'),
  ...each(INT64, 'generation deletionGracePeriodSeconds'),
  ...each(map(STRING), 'labels annotations'),
  ownerReferences: list(
    struct({ ...each(STRING, 'apiVersion kind name uid'), ...each(BOOL, 'controller blockOwnerDeletion') }),
  ),
  finalizers: list(STRING),
  managedFields: ANYTHING,
});

const RESOURCES = struct({
  ...each(map(QUANTITY), 'limits requests'),
  claims: list(struct(each(STRING, 'name request'))),
});

const KEY_REF = struct({ ...each(STRING, 'name key'), optional: BOOL });
const OPTIONAL_OBJECT = struct({ name: STRING, optional: BOOL });

const ENV = struct({
  ...each(STRING, 'name value'),
  valueFrom: struct({
    fieldRef: FIELD_REF,
    resourceFieldRef: RESOURCE_FIELD_REF,
    configMapKeyRef: KEY_REF,
    secretKeyRef: KEY_REF,
    fileKeyRef: struct({ ...each(STRING, 'volumeName path key'), optional: BOOL }),
  }),
});

const HANDLERS = {
  exec: struct({ command: list(STRING) }),
  httpGet: struct({
    ...each(STRING, 'path host scheme'),
    port: INT_OR_STRING,
    httpHeaders: list(struct(each(STRING, 'name value'))),
  }),
  tcpSocket: struct({ port: INT_OR_STRING, host: STRING }),
};

const PROBE = struct({
  ...HANDLERS,
  grpc: struct({ port: INT32, service: STRING }),
  ...each(INT32, 'initialDelaySeconds timeoutSeconds periodSeconds successThreshold failureThreshold'),
  terminationGracePeriodSeconds: INT64,
});

const HOOK = struct({ ...HANDLERS, sleep: struct({ seconds: INT64 }) });
const PROFILE = struct(each(STRING, 'type localhostProfile'));

const SHARED_SECURITY = {
  seLinuxOptions: struct(each(STRING, 'user role type level')),
  windowsOptions: struct({
    ...each(STRING, 'gmsaCredentialSpecName gmsaCredentialSpec runAsUserName'),
    hostProcess: BOOL,
  }),
  ...each(INT64, 'runAsUser runAsGroup'),
  runAsNonRoot: BOOL,
  seccompProfile: PROFILE,
  appArmorProfile: PROFILE,
};

const CONTAINER = struct({
  ...each(
    STRING,
    'name image workingDir restartPolicy terminationMessagePath terminationMessagePolicy imagePullPolicy',
  ),
  ...each(list(STRING), 'command args'),
  ports: list(struct({ ...each(STRING, 'name protocol hostIP'), ...each(INT32, 'hostPort containerPort') })),
  envFrom: list(struct({ prefix: STRING, configMapRef: OPTIONAL_OBJECT, secretRef: OPTIONAL_OBJECT })),
  env: list(ENV),
  resources: RESOURCES,
  resizePolicy: list(struct(each(STRING, 'resourceName restartPolicy'))),
  restartPolicyRules: list(struct({ action: STRING, exitCodes: struct({ operator: STRING, values: list(INT32) }) })),
  volumeMounts: list(
    struct({
      ...each(STRING, 'name recursiveReadOnly mountPath subPath mountPropagation subPathExpr'),
      readOnly: BOOL,
    }),
  ),
  volumeDevices: list(struct(each(STRING, 'name devicePath'))),
  ...each(PROBE, 'livenessProbe readinessProbe startupProbe'),
  lifecycle: struct({ ...each(HOOK, 'postStart preStop'), stopSignal: STRING }),
  securityContext: struct({
    ...SHARED_SECURITY,
    capabilities: struct(each(list(STRING), 'add drop')),
    ...each(BOOL, 'privileged readOnlyRootFilesystem allowPrivilegeEscalation'),
    procMount: STRING,
  }),
  ...each(BOOL, 'stdin stdinOnce tty'),
});

const REQUIREMENTS = list(struct({ ...each(STRING, 'key operator'), values: list(STRING) }));
const NODE_TERM = struct(each(REQUIREMENTS, 'matchExpressions matchFields'));
const POD_TERM = struct({
  ...each(LABEL_SELECTOR, 'labelSelector namespaceSelector'),
  ...each(list(STRING), 'namespaces matchLabelKeys mismatchLabelKeys'),
  topologyKey: STRING,
});
const POD_AFFINITY = struct({
  requiredDuringSchedulingIgnoredDuringExecution: list(POD_TERM),
  preferredDuringSchedulingIgnoredDuringExecution: list(struct({ weight: INT32, podAffinityTerm: POD_TERM })),
});

const AFFINITY = struct({
  nodeAffinity: struct({
    requiredDuringSchedulingIgnoredDuringExecution: struct({ nodeSelectorTerms: list(NODE_TERM) }),
    preferredDuringSchedulingIgnoredDuringExecution: list(struct({ weight: INT32, preference: NODE_TERM })),
  }),
  podAffinity: POD_AFFINITY,
  podAntiAffinity: POD_AFFINITY,
});

const SPEC = struct({
  volumes: list(VOLUME),
  ...each(list(CONTAINER), 'initContainers containers'),
  ephemeralContainers: list(struct({ ...CONTAINER.fields, targetContainerName: STRING })),
  ...each(
    STRING,
    'restartPolicy dnsPolicy serviceAccountName serviceAccount nodeName hostname subdomain schedulerName',
  ),
  ...each(STRING, 'priorityClassName runtimeClassName preemptionPolicy hostnameOverride'),
  ...each(INT64, 'terminationGracePeriodSeconds activeDeadlineSeconds'),
  ...each(BOOL, 'automountServiceAccountToken hostNetwork hostPID hostIPC shareProcessNamespace enableServiceLinks'),
  ...each(BOOL, 'setHostnameAsFQDN hostUsers'),
  nodeSelector: map(STRING),
  securityContext: struct({
    ...SHARED_SECURITY,
    supplementalGroups: list(INT64),
    fsGroup: INT64,
    sysctls: list(struct(each(STRING, 'name value'))),
    ...each(STRING, 'supplementalGroupsPolicy fsGroupChangePolicy seLinuxChangePolicy'),
  }),
  imagePullSecrets: list(OBJECT_NAME),
  affinity: AFFINITY,
  tolerations: list(struct({ ...each(STRING, 'key operator value effect'), tolerationSeconds: INT64 })),
  hostAliases: list(struct({ ip: STRING, hostnames: list(STRING) })),
  priority: INT32,
  dnsConfig: struct({
    ...each(list(STRING), 'nameservers searches'),
    options: list(struct(each(STRING, 'name value'))),
  }),
  readinessGates: list(struct({ conditionType: STRING })),
  overhead: map(QUANTITY),
  topologySpreadConstraints: list(
    struct({
      ...each(INT32, 'maxSkew minDomains'),
      ...each(STRING, 'topologyKey whenUnsatisfiable nodeAffinityPolicy nodeTaintsPolicy'),
      labelSelector: LABEL_SELECTOR,
      matchLabelKeys: list(STRING),
    }),
  ),
  os: struct({ name: STRING }),
  schedulingGates: list(struct({ name: STRING })),
  resourceClaims: list(struct(each(STRING, 'name resourceClaimName resourceClaimTemplateName'))),
  resources: RESOURCES,
  schedulingGroup: struct({ podGroupName: STRING }),
});

export const POD = struct({ ...each(STRING, 'apiVersion kind'), metadata: META, spec: SPEC, status: ANYTHING });

/** A pod of the API server, which has a status. */
export const API_POD = struct({
  ...POD.fields,
  status: struct({
    ...each(STRING, 'phase reason message podIP hostIP qosClass'),
    startTime: TIME,
    conditions: list(struct({ ...each(STRING, 'type status reason message') })),
    ...each(list(struct({ name: STRING })), 'initContainerStatuses containerStatuses ephemeralContainerStatuses'),
    podIPs: list(struct({ ip: STRING })),
  }),
});
