/** One container: its name and image, ports, variables and mounts. */
import type { Container, ContainerPort, EnvFromSource, EnvVar, VolumeDevice, VolumeMount } from '../container.ts';
import type { Volume } from '../volume.ts';
import { checkEnv, checkEnvFrom } from './env.ts';
import { type Faults, repeated } from './faults.ts';
import { checkPortNumber } from './handlers.ts';
import { checkContainerResources } from './resources.ts';
import { checkContainerSecurity } from './security.ts';
import { dnsLabel, portName, relativePath, withoutBackSteps } from './text-rules.ts';

export const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];
const RECURSIVE_READ_ONLY = ['Disabled', 'Enabled', 'IfPossible'];

/** What a container shares with its pod. */
export interface ContainerContext {
  /** The volumes that are in order, by name. */
  readonly volumes: ReadonlyMap<string, Volume>;
  readonly claimNames: readonly string[];
  readonly podRestartPolicy: string | undefined;
  readonly hostUsers: boolean;
}

export function checkContainer(container: Container, path: string, context: ContainerContext, faults: Faults): void {
  faults.requiredText(`${path}.name`, container.name, dnsLabel);
  if (!container.image) faults.required(`${path}.image`);
  else if (container.image !== container.image.trim()) {
    faults.invalid(`${path}.image`, container.image, 'must not have leading or trailing whitespace');
  }
  const policies = ['FallbackToLogsOnError', 'File'];
  faults.oneOf(`${path}.terminationMessagePolicy`, container.terminationMessagePolicy, policies, 'required');
  faults.oneOf(`${path}.imagePullPolicy`, container.imagePullPolicy, PULL_POLICIES, 'required');
  checkPorts(container.ports ?? [], `${path}.ports`, faults);
  (container.env ?? []).forEach((variable: EnvVar, index) => {
    checkEnv(variable, `${path}.env[${index}]`, faults);
  });
  (container.envFrom ?? []).forEach((source: EnvFromSource, index) => {
    checkEnvFrom(source, `${path}.envFrom[${index}]`, faults);
  });
  checkMounts(container, path, context, faults);
  checkDevices(container, path, context, faults);
  checkContainerResources(container.resources ?? {}, `${path}.resources`, context.claimNames, faults);
  checkResizePolicy(container, path, context, faults);
  if (container.securityContext !== undefined) {
    checkContainerSecurity(container.securityContext, `${path}.securityContext`, context.hostUsers, faults);
  }
}

function checkPorts(ports: readonly ContainerPort[], path: string, faults: Faults): void {
  ports.forEach((port, index) => {
    const at = `${path}[${index}]`;
    faults.optionalText(`${at}.name`, port.name, portName);
    if (!port.containerPort) faults.required(`${at}.containerPort`);
    else checkPortNumber(port.containerPort, `${at}.containerPort`, faults);
    if (port.hostPort) checkPortNumber(port.hostPort, `${at}.hostPort`, faults);
    faults.oneOf(`${at}.protocol`, port.protocol, PROTOCOLS, 'required');
  });
  const nameOf = ({ name }: ContainerPort) => (name && portName(name) === undefined ? name : undefined);
  faults.unique(ports, nameOf, (index) => `${path}[${index}].name`);
}

function checkMounts(container: Container, parent: string, { volumes }: ContainerContext, faults: Faults): void {
  const { volumeMounts = [], volumeDevices = [] } = container;
  const again = repeated(volumeMounts.map(({ mountPath }) => mountPath));
  const deviceNames = new Set(volumeDevices.map(({ name }) => name));
  const devicePaths = new Set(volumeDevices.map(({ devicePath }) => devicePath));
  volumeMounts.forEach((mount, index) => {
    const path = `${parent}.volumeMounts[${index}]`;
    if (!mount.name) faults.required(`${path}.name`);
    if (!volumes.has(mount.name)) faults.notFound(`${path}.name`, mount.name ?? '');
    if (!mount.mountPath) faults.required(`${path}.mountPath`);
    else if (again.has(index)) faults.invalid(`${path}.mountPath`, mount.mountPath, 'must be unique');
    if (deviceNames.has(mount.name)) {
      faults.invalid(`${path}.name`, mount.name, 'must not already exist in volumeDevices');
    }
    if (devicePaths.has(mount.mountPath)) {
      faults.invalid(`${path}.mountPath`, mount.mountPath, 'must not already exist as a path in volumeDevices');
    }
    checkSubPath(mount, path, faults);
    checkMountModes(mount, container, path, faults);
  });
}

function checkSubPath({ subPath, subPathExpr }: VolumeMount, path: string, faults: Faults): void {
  faults.optionalText(`${path}.subPath`, subPath, relativePath);
  faults.optionalText(`${path}.subPathExpr`, subPathExpr, relativePath);
  if (subPath && subPathExpr) {
    faults.invalid(`${path}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive');
  }
}

function checkMountModes(mount: VolumeMount, container: Container, path: string, faults: Faults): void {
  const { mountPropagation: propagation, recursiveReadOnly, readOnly } = mount;
  if (propagation !== undefined) {
    faults.oneOf(`${path}.mountPropagation`, propagation, PROPAGATIONS, 'required');
    if (propagation === 'Bidirectional' && !container.securityContext?.privileged) {
      const detail = 'Bidirectional mount propagation is available only to privileged containers';
      faults.forbidden(`${path}.mountPropagation`, detail);
    }
  }
  if (recursiveReadOnly === undefined) return;
  const at = `${path}.recursiveReadOnly`;
  faults.oneOf(at, recursiveReadOnly, RECURSIVE_READ_ONLY, 'required');
  if (recursiveReadOnly !== 'Enabled' && recursiveReadOnly !== 'IfPossible') return;
  if (!readOnly) faults.forbidden(at, 'may only be specified when readOnly is true');
  if (propagation !== undefined && propagation !== 'None') {
    faults.forbidden(at, 'may only be specified when mountPropagation is None or not specified');
  }
}

function checkDevices(container: Container, parent: string, { volumes }: ContainerContext, faults: Faults): void {
  const { volumeMounts = [], volumeDevices = [] } = container;
  const nameAgain = repeated(volumeDevices.map(({ name }) => name));
  const pathAgain = repeated(volumeDevices.map(({ devicePath }) => devicePath));
  const mountNames = new Set(volumeMounts.map(({ name }) => name));
  const mountPaths = new Set(volumeMounts.map(({ mountPath }) => mountPath));
  volumeDevices.forEach((device, index) => {
    const path = `${parent}.volumeDevices[${index}]`;
    checkDeviceName(device, nameAgain.has(index), `${path}.name`, volumes, faults);
    if (!device.devicePath) faults.required(`${path}.devicePath`);
    else if (pathAgain.has(index)) faults.invalid(`${path}.devicePath`, device.devicePath, 'must be unique');
    else faults.text(`${path}.devicePath`, device.devicePath, withoutBackSteps);
    if (mountNames.has(device.name)) {
      faults.invalid(`${path}.name`, device.name, 'must not already exist in volumeMounts');
    }
    if (mountPaths.has(device.devicePath)) {
      faults.invalid(`${path}.devicePath`, device.devicePath, 'must not already exist as a path in volumeMounts');
    }
  });
}

function checkDeviceName(
  { name }: VolumeDevice,
  isRepeated: boolean,
  path: string,
  volumes: ReadonlyMap<string, Volume>,
  faults: Faults,
): void {
  if (!name) faults.required(path);
  else if (isRepeated) faults.invalid(path, name, 'must be unique');
  const volume = volumes.get(name);
  if (volume === undefined) faults.notFound(path, name ?? '');
  else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
    const detail = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
    faults.invalid(path, name, detail);
  }
}

function checkResizePolicy(container: Container, parent: string, context: ContainerContext, faults: Faults): void {
  const policies = container.resizePolicy ?? [];
  policies.forEach(({ resourceName, restartPolicy }, index) => {
    const path = `${parent}.resizePolicy[${index}]`;
    faults.oneOf(`${path}.resourceName`, resourceName, ['cpu', 'memory'], 'required');
    faults.oneOf(`${path}.restartPolicy`, restartPolicy, ['NotRequired', 'RestartContainer'], 'required');
    if (context.podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      const detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
      faults.invalid(`${path}.restartPolicy`, restartPolicy ?? '', detail);
    }
  });
  faults.unique(
    policies,
    ({ resourceName }) => resourceName,
    (index) => `${parent}.resizePolicy[${index}]`,
  );
}
