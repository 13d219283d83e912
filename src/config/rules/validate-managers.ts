import { compareQuantities, formatQuantity } from '../../api/quantity.ts';
import { type Findings, listed, oneOf, problem, warning } from './finding.ts';
import { parseGoBool } from './go-bool.ts';
import { suggestion } from './nearest.ts';
import { computeReservations } from './reservations.ts';
import type { ValidationInput } from './validation-input.ts';

const topologyPolicies = ['none', 'best-effort', 'restricted', 'single-numa-node'];
const topologyScopes = ['container', 'pod'];
const topologyOptions = ['prefer-closest-numa-nodes', 'max-allowable-numa-nodes'];
const usualNumaNodes = 8;

type OptionGate = 'CPUManagerPolicyAlphaOptions' | 'CPUManagerPolicyBetaOptions';
const cpuOptions: ReadonlyMap<string, OptionGate | undefined> = new Map([
  ['full-pcpus-only', undefined],
  ['strict-cpu-reservation', undefined],
  ['prefer-align-cpus-by-uncorecache', undefined],
  ['distribute-cpus-across-numa', 'CPUManagerPolicyBetaOptions'],
  ['align-by-socket', 'CPUManagerPolicyAlphaOptions'],
  ['distribute-cpus-across-cores', 'CPUManagerPolicyAlphaOptions'],
]);
const cpuOptionConflicts = [
  ['full-pcpus-only', 'distribute-cpus-across-cores'],
  ['distribute-cpus-across-numa', 'distribute-cpus-across-cores'],
  ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-cores'],
  ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-numa'],
] as const;

export function* validateManagers(input: ValidationInput): Findings {
  yield* validateCpuPolicy(input);
  yield* validateCpuOptions(input);
  yield* validateTopology(input);
}

function* validateCpuPolicy(input: ValidationInput): Findings {
  const { cpuManagerPolicy: policy } = input.kubelet;
  yield* oneOf('cpuManagerPolicy', policy, ['none', 'static']);
  if (policy !== 'static') return;
  const { cpu } = computeReservations(input);
  if (compareQuantities(cpu, { nanos: 0n, family: 'decimal' }) <= 0) {
    const rule = 'needs a cpu reservation greater than zero in kubeReserved, systemReserved or reservedSystemCPUs';
    yield problem(
      'cpuManagerPolicy',
      policy,
      `${rule}: the shared pool must never be empty (now ${formatQuantity(cpu)})`,
    );
  }
}

function* validateCpuOptions({ kubelet, features }: ValidationInput): Findings {
  const options = Object.entries(kubelet.cpuManagerPolicyOptions);
  if (kubelet.cpuManagerPolicy === 'none' && options.length > 0) {
    yield problem(
      'cpuManagerPolicyOptions',
      kubelet.cpuManagerPolicyOptions,
      'must be empty with cpuManagerPolicy none',
    );
  }
  if (kubelet.cpuManagerPolicy !== 'static') return;
  const enabled = new Set<string>();
  for (const [name, text] of options) {
    const path = `cpuManagerPolicyOptions.${name}`;
    const known = [...cpuOptions.keys()];
    if (!cpuOptions.has(name)) {
      yield problem(
        path,
        text,
        `is not an option of the static policy, which are ${listed(known)}${suggestion(name, known)}`,
      );
      continue;
    }
    const gate = cpuOptions.get(name);
    if (gate !== undefined && !features.enabled(gate)) yield problem(path, text, `needs the feature gate ${gate}`);
    const value = parseGoBool(text);
    if (value === undefined) yield problem(path, text, 'must be "true" or "false"');
    if (value) enabled.add(name);
  }
  for (const [one, other] of cpuOptionConflicts) {
    if (enabled.has(one) && enabled.has(other)) {
      yield problem(`cpuManagerPolicyOptions.${one}`, 'true', `can't be used together with ${other}`);
    }
  }
  if (enabled.has('align-by-socket') && kubelet.topologyManagerPolicy === 'single-numa-node') {
    const rule = "can't be used together with topologyManagerPolicy single-numa-node";
    yield problem('cpuManagerPolicyOptions.align-by-socket', 'true', rule);
  }
}

function* validateTopology({ kubelet, machine }: ValidationInput): Findings {
  const { topologyManagerPolicy: policy, topologyManagerScope: scope, topologyManagerPolicyOptions: options } = kubelet;
  yield* oneOf('topologyManagerPolicy', policy, topologyPolicies);
  yield* oneOf('topologyManagerScope', scope, topologyScopes);
  if (policy === 'none') {
    if (Object.keys(options).length > 0) {
      yield warning('topologyManagerPolicyOptions', options, 'does nothing with topologyManagerPolicy none');
    }
    return;
  }
  let allowedNumaNodes = usualNumaNodes;
  for (const [name, text] of Object.entries(options)) {
    const path = `topologyManagerPolicyOptions.${name}`;
    if (name === 'prefer-closest-numa-nodes') {
      if (parseGoBool(text) === undefined) yield problem(path, text, 'must be "true" or "false"');
    } else if (name === 'max-allowable-numa-nodes') {
      const count = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
      if (!(count >= usualNumaNodes)) yield problem(path, text, `must be a whole number, ${usualNumaNodes} or more`);
      else allowedNumaNodes = count;
      if (count > usualNumaNodes) {
        yield warning(path, text, `above ${usualNumaNodes} NUMA nodes, admitting a pod can take very long`);
      }
    } else {
      yield problem(
        path,
        text,
        `is not an option, which are ${listed(topologyOptions)}${suggestion(name, topologyOptions)}`,
      );
    }
  }
  if (machine.numaNodes.length > allowedNumaNodes) {
    const rule = `works on machines with at most ${allowedNumaNodes} NUMA nodes, and this one has ${machine.numaNodes.length}`;
    yield problem('topologyManagerPolicy', policy, rule);
  }
}
