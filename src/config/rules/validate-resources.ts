import { formatCpuSet, parseCpuSet } from '../../api/cpu-set.ts';
import { compareQuantities, formatQuantity, parseQuantity, quantityFromUnits } from '../../api/quantity.ts';
import { type Findings, listed, problem, warning } from './finding.ts';
import { suggestion } from './nearest.ts';
import { computeReservations } from './reservations.ts';
import type { ValidationInput } from './validation-input.ts';

const reservable = ['cpu', 'memory', 'ephemeral-storage', 'pid'];

/** The enforcements, each with the field that must name its cgroup. */
const enforcements: ReadonlyMap<string, 'systemReservedCgroup' | 'kubeReservedCgroup' | undefined> = new Map([
  ['pods', undefined],
  ['system-reserved', 'systemReservedCgroup'],
  ['system-reserved-compressible', 'systemReservedCgroup'],
  ['kube-reserved', 'kubeReservedCgroup'],
  ['kube-reserved-compressible', 'kubeReservedCgroup'],
  ['none', undefined],
]);

export function* validateResources(input: ValidationInput): Findings {
  yield* validateReserved('kubeReserved', input);
  yield* validateReserved('systemReserved', input);
  yield* validateReservedCpus(input);
  yield* validateCapacity(input);
  yield* validateEnforcement(input);
  yield* validateCgroupNames(input);
  yield* validateQosReserved(input);
}

function* validateReserved(field: 'kubeReserved' | 'systemReserved', { kubelet }: ValidationInput): Findings {
  for (const [name, text] of Object.entries(kubelet[field])) {
    const path = `${field}.${name}`;
    if (!reservable.includes(name)) {
      yield problem(path, text, `${name} can't be reserved, only ${listed(reservable)}${suggestion(name, reservable)}`);
      continue;
    }
    if (name === 'cpu' && kubelet.reservedSystemCPUs !== '') {
      yield warning(path, text, 'is ignored: reservedSystemCPUs takes its place');
      continue;
    }
    const amount = parseQuantity(text);
    if (!amount.ok) yield problem(path, text, 'must be a quantity such as 500m, 1 or 64Mi');
    else if (amount.value.nanos < 0n) yield problem(path, text, 'must not be negative');
  }
}

function* validateReservedCpus({ kubelet, machine }: ValidationInput): Findings {
  const text = kubelet.reservedSystemCPUs;
  if (text === '') return;
  for (const field of ['systemReservedCgroup', 'kubeReservedCgroup'] as const) {
    if (kubelet[field] !== '') yield problem('reservedSystemCPUs', text, `can't be used together with ${field}`);
  }
  const cpus = parseCpuSet(text);
  if (!cpus.ok) {
    yield problem('reservedSystemCPUs', text, `must be a list of CPUs such as 0-1,4: ${cpus.problem}`);
    return;
  }
  const absent = cpus.value.filter((cpu) => !machine.onlineCpus.includes(cpu));
  if (absent.length > 0) {
    const online = formatCpuSet(machine.onlineCpus);
    yield problem('reservedSystemCPUs', text, `must name online CPUs only (${online}), not ${formatCpuSet(absent)}`);
  }
}

/** More must not be reserved than the machine has. Disk space is checked by the part that knows the disks. */
function* validateCapacity(input: ValidationInput): Findings {
  const { kubelet, machine } = input;
  const reserved = computeReservations(input);
  const cpus = quantityFromUnits(BigInt(machine.onlineCpus.length), 'decimal');
  if (kubelet.reservedSystemCPUs === '' && compareQuantities(reserved.cpu, cpus) > 0) {
    const field = kubelet.kubeReserved['cpu'] === undefined ? 'systemReserved' : 'kubeReserved';
    const rule = `all cpu reservations together (${formatQuantity(reserved.cpu)}) must not exceed the ${machine.onlineCpus.length} of this machine`;
    yield problem(`${field}.cpu`, kubelet[field]['cpu'], rule);
  }
  const memory = quantityFromUnits(machine.memoryBytes, 'binary');
  if (compareQuantities(reserved.memory, memory) > 0) {
    const fields = ['kubeReserved', 'systemReserved'] as const;
    const field = fields.find((name) => kubelet[name]['memory'] !== undefined);
    const path = field === undefined ? 'evictionHard.memory.available' : `${field}.memory`;
    const value = field === undefined ? kubelet.evictionHard['memory.available'] : kubelet[field]['memory'];
    const rule = `all memory reservations together (${formatQuantity(reserved.memory)}) must not exceed the ${formatQuantity(memory)} of this machine`;
    yield problem(path, value, rule);
  }
}

function* validateEnforcement({ kubelet }: ValidationInput): Findings {
  const wanted = kubelet.enforceNodeAllocatable;
  for (const [index, name] of wanted.entries()) {
    const path = `enforceNodeAllocatable[${index}]`;
    if (wanted.indexOf(name) < index) {
      yield problem(path, name, 'must not be listed twice');
      continue;
    }
    if (!enforcements.has(name)) {
      const known = [...enforcements.keys()];
      yield problem(path, name, `must be ${listed(known)}${suggestion(name, known)}`);
      continue;
    }
    if (name === 'none') {
      if (wanted.length > 1) yield problem(path, name, 'must stand alone');
      continue;
    }
    const cgroupField = enforcements.get(name);
    if (cgroupField !== undefined && kubelet[cgroupField] === '') yield problem(path, name, `needs ${cgroupField}`);
    if (!kubelet.cgroupsPerQOS) yield problem(path, name, 'needs cgroupsPerQOS: true');
  }
  for (const name of ['system-reserved', 'kube-reserved']) {
    if (wanted.includes(name) && wanted.includes(`${name}-compressible`)) {
      yield problem('enforceNodeAllocatable', wanted, `must not hold both ${name} and ${name}-compressible`);
    }
  }
}

function* validateCgroupNames({ kubelet }: ValidationInput): Findings {
  const { systemCgroups, cgroupRoot, kubeletCgroups, kubeReservedCgroup, cgroupDriver } = kubelet;
  if (systemCgroups !== '' && cgroupRoot === '') yield problem('systemCgroups', systemCgroups, 'needs cgroupRoot');
  if (kubeletCgroups !== '' && kubeReservedCgroup !== '' && !kubeletCgroups.startsWith(kubeReservedCgroup)) {
    yield warning('kubeletCgroups', kubeletCgroups, `should be within kubeReservedCgroup (${kubeReservedCgroup})`);
  }
  if (cgroupDriver !== 'cgroupfs' && cgroupDriver !== 'systemd') {
    yield warning('cgroupDriver', cgroupDriver, 'should be "cgroupfs" or "systemd"; it is taken for cgroupfs');
  }
}

function* validateQosReserved({ kubelet, features }: ValidationInput): Findings {
  for (const [name, text] of Object.entries(kubelet.qosReserved)) {
    const path = `qosReserved.${name}`;
    if (name !== 'memory') {
      yield problem(path, text, `${name} can't be reserved for a QoS class, only memory`);
      continue;
    }
    const share = /^([+-]?\d+)%+$/.exec(text)?.[1];
    if (share === undefined || Number(share) < 0 || Number(share) > 100) {
      yield problem(path, text, 'must be a whole percentage between 0% and 100%');
    } else if (!features.enabled('QOSReserved')) {
      yield warning(path, text, 'does nothing without the feature gate QOSReserved');
    }
  }
}
