import { judgeAll } from '../judge-testing.ts';
import type { PartialKubeletConfiguration } from '../schema/kubelet-configuration.ts';

const pinned: PartialKubeletConfiguration = { cpuManagerPolicy: 'static', kubeReserved: { cpu: '500m' } };

judgeAll({
  'cpu policy unknown': {
    config: { cpuManagerPolicy: 'moon' },
    problems: [/^cpuManagerPolicy: must be "none" or "static"/],
  },
  'static with a reservation': { config: pinned },
  'static with named CPUs': { config: { cpuManagerPolicy: 'static', reservedSystemCPUs: '1' } },
  'static without': {
    config: { cpuManagerPolicy: 'static' },
    problems: [/^cpuManagerPolicy: needs a cpu reservation/],
  },
  'static with zero': {
    config: { cpuManagerPolicy: 'static', kubeReserved: { cpu: '0' } },
    problems: ['cpuManagerPolicy'],
  },
  'options without a policy': {
    config: { cpuManagerPolicyOptions: { 'full-pcpus-only': 'true' } },
    problems: [/^cpuManagerPolicyOptions: must be empty/],
  },
  'stable options': {
    config: { ...pinned, cpuManagerPolicyOptions: { 'full-pcpus-only': 'true', 'strict-cpu-reservation': 'F' } },
  },
  'beta option': { config: { ...pinned, cpuManagerPolicyOptions: { 'distribute-cpus-across-numa': 'true' } } },
  'alpha option without its gate': {
    config: { ...pinned, cpuManagerPolicyOptions: { 'align-by-socket': 'true' } },
    problems: [/^cpuManagerPolicyOptions\.align-by-socket: needs the feature gate CPUManagerPolicyAlphaOptions/],
  },
  'unknown option, bad value': {
    config: { ...pinned, cpuManagerPolicyOptions: { 'full-pcpu-only': 'true', 'strict-cpu-reservation': 'yes' } },
    problems: [/did you mean full-pcpus-only\?/, /strict-cpu-reservation: must be "true" or "false"/],
  },
  'options that exclude each other': {
    config: {
      ...pinned,
      topologyManagerPolicy: 'single-numa-node',
      cpuManagerPolicyOptions: {
        'full-pcpus-only': 'true',
        'distribute-cpus-across-cores': 'true',
        'distribute-cpus-across-numa': 'true',
        'prefer-align-cpus-by-uncorecache': 'true',
        'align-by-socket': 'true',
      },
    },
    around: { gates: { CPUManagerPolicyAlphaOptions: true } },
    problems: [
      /full-pcpus-only: .*distribute-cpus-across-cores/,
      /across-numa: .*distribute-cpus-across-cores/,
      /uncorecache: .*distribute-cpus-across-cores/,
      /uncorecache: .*distribute-cpus-across-numa/,
      /align-by-socket: .*single-numa-node/,
    ],
  },
  'options that would exclude each other, one off': {
    config: {
      ...pinned,
      cpuManagerPolicyOptions: { 'full-pcpus-only': 'true', 'distribute-cpus-across-cores': 'false' },
    },
    around: { gates: { CPUManagerPolicyAlphaOptions: true } },
  },
  'topology policy and scope': { config: { topologyManagerPolicy: 'restricted', topologyManagerScope: 'pod' } },
  'topology policy and scope unknown': {
    config: { topologyManagerPolicy: 'moon', topologyManagerScope: 'sun' },
    problems: ['topologyManagerPolicy', 'topologyManagerScope'],
  },
  'topology options': {
    config: {
      topologyManagerPolicy: 'best-effort',
      topologyManagerPolicyOptions: { 'prefer-closest-numa-nodes': 'true', 'max-allowable-numa-nodes': '8' },
    },
  },
  'topology options bad': {
    config: {
      topologyManagerPolicy: 'best-effort',
      topologyManagerPolicyOptions: { 'prefer-closest-numa-nodes': 'on', 'max-allowable-numa-nodes': '7', other: '1' },
    },
    problems: [/closest-numa-nodes/, /numa-nodes: must be a whole number, 8 or more/, /other: is not an option/],
  },
  'topology options for nothing': {
    config: { topologyManagerPolicyOptions: { other: '1' } },
    warnings: [/does nothing with topologyManagerPolicy none/],
  },
  'many NUMA nodes': {
    config: { topologyManagerPolicy: 'best-effort' },
    around: { machine: { numaNodes: [0, 1, 2, 3, 4, 5, 6, 7, 8] } },
    problems: [/^topologyManagerPolicy: works on machines with at most 8 NUMA nodes, and this one has 9/],
  },
  'many NUMA nodes, allowed': {
    config: { topologyManagerPolicy: 'best-effort', topologyManagerPolicyOptions: { 'max-allowable-numa-nodes': '9' } },
    around: { machine: { numaNodes: [0, 1, 2, 3, 4, 5, 6, 7, 8] } },
    warnings: ['topologyManagerPolicyOptions.max-allowable-numa-nodes'],
  },
});
