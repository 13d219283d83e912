/** The values that the API server fills in for one container. */
import type {
  Container,
  EnvVar,
  HttpGetAction,
  Lifecycle,
  LifecycleHandler,
  ObjectFieldSelector,
  Probe,
  ResourceFieldSelector,
} from './container.ts';
import { pullPolicyOf } from './image-name.ts';
import { roundUpResources } from './resource-list.ts';

export const DEFAULT_TERMINATION_MESSAGE_PATH = '/dev/termination-log';

const DEFAULT_PROBE = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };

export function defaultContainer<T extends Container>(container: T): T {
  const { ports, env, resources, livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  return {
    ...container,
    ...(ports === undefined ? {} : { ports: ports.map((port) => ({ ...port, protocol: port.protocol || 'TCP' })) }),
    ...(env === undefined ? {} : { env: env.map(defaultEnv) }),
    resources: {
      ...resources,
      ...(resources?.limits === undefined ? {} : { limits: roundUpResources(resources.limits) }),
      ...(resources?.requests === undefined ? {} : { requests: roundUpResources(resources.requests) }),
    },
    ...(livenessProbe === undefined ? {} : { livenessProbe: defaultProbe(livenessProbe) }),
    ...(readinessProbe === undefined ? {} : { readinessProbe: defaultProbe(readinessProbe) }),
    ...(startupProbe === undefined ? {} : { startupProbe: defaultProbe(startupProbe) }),
    ...(lifecycle === undefined ? {} : { lifecycle: defaultLifecycle(lifecycle) }),
    terminationMessagePath: container.terminationMessagePath || DEFAULT_TERMINATION_MESSAGE_PATH,
    terminationMessagePolicy: container.terminationMessagePolicy || 'File',
    imagePullPolicy: container.imagePullPolicy || pullPolicyOf(container.image ?? ''),
  };
}

function defaultEnv(variable: EnvVar): EnvVar {
  if (variable.valueFrom === undefined) return variable;
  const { fieldRef, resourceFieldRef, fileKeyRef } = variable.valueFrom;
  return {
    ...variable,
    valueFrom: {
      ...variable.valueFrom,
      ...(fieldRef === undefined ? {} : { fieldRef: defaultFieldRef(fieldRef) }),
      ...(resourceFieldRef === undefined ? {} : { resourceFieldRef: defaultResourceRef(resourceFieldRef) }),
      ...(fileKeyRef === undefined ? {} : { fileKeyRef: { ...fileKeyRef, optional: fileKeyRef.optional ?? false } }),
    },
  };
}

export function defaultFieldRef(ref: ObjectFieldSelector): ObjectFieldSelector {
  return { ...ref, apiVersion: ref.apiVersion || 'v1' };
}

/** Zero stands for "as it is". */
export function defaultResourceRef(ref: ResourceFieldSelector): ResourceFieldSelector {
  return { ...ref, divisor: ref.divisor ?? '0' };
}

/** Zero stands for "not said" in a probe. */
function defaultProbe(probe: Probe): Probe {
  const { httpGet, grpc } = probe;
  return {
    ...probe,
    ...(httpGet === undefined ? {} : { httpGet: defaultHttpGet(httpGet) }),
    ...(grpc === undefined ? {} : { grpc: { ...grpc, service: grpc.service ?? '' } }),
    timeoutSeconds: probe.timeoutSeconds || DEFAULT_PROBE.timeoutSeconds,
    periodSeconds: probe.periodSeconds || DEFAULT_PROBE.periodSeconds,
    successThreshold: probe.successThreshold || DEFAULT_PROBE.successThreshold,
    failureThreshold: probe.failureThreshold || DEFAULT_PROBE.failureThreshold,
  };
}

function defaultHttpGet(action: HttpGetAction): HttpGetAction {
  return { ...action, path: action.path || '/', scheme: action.scheme || 'HTTP' };
}

function defaultLifecycle(lifecycle: Lifecycle): Lifecycle {
  const { postStart, preStop } = lifecycle;
  return {
    ...lifecycle,
    ...(postStart === undefined ? {} : { postStart: defaultHook(postStart) }),
    ...(preStop === undefined ? {} : { preStop: defaultHook(preStop) }),
  };
}

function defaultHook(hook: LifecycleHandler): LifecycleHandler {
  return hook.httpGet === undefined ? hook : { ...hook, httpGet: defaultHttpGet(hook.httpGet) };
}
