/** Labels and annotations on sandboxes and containers. They are the only memory of a restarted kubelet, so the names are fixed. */
import type { Container, ContainerPort, LifecycleHandler } from '../../api/container.ts';
import type { StringMap } from '../../api/meta.ts';
import type { Pod } from '../../api/pod.ts';
import { escapeJson } from '../../base/go-text.ts';
import { hashContainer } from './hash.ts';

export const POD_NAME = 'io.kubernetes.pod.name';
export const POD_NAMESPACE = 'io.kubernetes.pod.namespace';
export const POD_UID = 'io.kubernetes.pod.uid';
export const CONTAINER_NAME = 'io.kubernetes.container.name';

export const CONTAINER_HASH = 'io.kubernetes.container.hash';
export const RESTART_COUNT = 'io.kubernetes.container.restartCount';
export const TERMINATION_MESSAGE_PATH = 'io.kubernetes.container.terminationMessagePath';
export const TERMINATION_MESSAGE_POLICY = 'io.kubernetes.container.terminationMessagePolicy';
export const PRE_STOP_HANDLER = 'io.kubernetes.container.preStopHandler';
const CONTAINER_PORTS = 'io.kubernetes.container.ports';
export const DELETION_GRACE_PERIOD = 'io.kubernetes.pod.deletionGracePeriod';
export const TERMINATION_GRACE_PERIOD = 'io.kubernetes.pod.terminationGracePeriod';

export function sandboxLabels(pod: Pod): StringMap {
  return { ...pod.metadata.labels, ...identity(pod) };
}

export function containerLabels(pod: Pod, container: Container): StringMap {
  return { ...identity(pod), [CONTAINER_NAME]: container.name };
}

function identity(pod: Pod): StringMap {
  return { [POD_NAME]: pod.metadata.name, [POD_NAMESPACE]: pod.metadata.namespace, [POD_UID]: pod.metadata.uid };
}

export interface AnnotatedContainer {
  readonly pod: Pod;
  readonly container: Container;
  readonly attempt: number;
  /** From device plugins; ours win where a key is in both. */
  readonly extra: StringMap;
}

/** What is needed to stop the container and to explain its end after its pod is gone from every source. */
export function containerAnnotations({ pod, container, attempt, extra }: AnnotatedContainer): StringMap {
  const annotations: Record<string, string> = {
    ...extra,
    [CONTAINER_HASH]: hashContainer(container),
    [RESTART_COUNT]: String(attempt),
    [TERMINATION_MESSAGE_PATH]: container.terminationMessagePath ?? '',
    [TERMINATION_MESSAGE_POLICY]: container.terminationMessagePolicy ?? '',
  };
  const deletionGrace = pod.metadata.deletionGracePeriodSeconds;
  if (deletionGrace !== undefined) annotations[DELETION_GRACE_PERIOD] = String(deletionGrace);
  const grace = pod.spec.terminationGracePeriodSeconds;
  if (grace !== undefined) annotations[TERMINATION_GRACE_PERIOD] = String(grace);
  const preStop = container.lifecycle?.preStop;
  if (preStop !== undefined) annotations[PRE_STOP_HANDLER] = handlerJson(preStop);
  if (container.ports !== undefined && container.ports.length > 0) {
    annotations[CONTAINER_PORTS] = escapeJson(JSON.stringify(container.ports.map(orderedPort)));
  }
  return annotations;
}

/** In the order of fields, and without the empty ones, as another kubelet writes and compares it. */
function orderedPort(port: ContainerPort): unknown {
  return {
    name: port.name || undefined,
    hostPort: port.hostPort || undefined,
    containerPort: port.containerPort,
    protocol: port.protocol,
    hostIP: port.hostIP || undefined,
  };
}

function handlerJson({ exec, httpGet, tcpSocket, sleep }: LifecycleHandler): string {
  const ordered = {
    exec: exec && { command: exec.command?.length ? exec.command : undefined },
    httpGet: httpGet && {
      path: httpGet.path || undefined,
      port: httpGet.port,
      host: httpGet.host || undefined,
      scheme: httpGet.scheme,
      httpHeaders: httpGet.httpHeaders?.length
        ? httpGet.httpHeaders.map(({ name, value }) => ({ name, value }))
        : undefined,
    },
    tcpSocket: tcpSocket && { port: tcpSocket.port, host: tcpSocket.host || undefined },
    sleep: sleep && { seconds: sleep.seconds },
  };
  return escapeJson(JSON.stringify(ordered));
}
