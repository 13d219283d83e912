import { judgeAll } from '../judge-testing.ts';
import { defaultSettings } from '../settings.ts';

judgeAll({
  reservations: {
    config: {
      kubeReserved: { cpu: '500m', memory: '64Mi', 'ephemeral-storage': '1Gi', pid: '100' },
      systemReserved: { cpu: '1' },
    },
  },
  'reservations of any kind of mistake': {
    config: { kubeReserved: { apples: '1', cpu: '-1' }, systemReserved: { memory: 'x', 'hugepages-2Mi': '2Mi' } },
    problems: [
      /^kubeReserved\.apples: apples can't be reserved/,
      /^kubeReserved\.cpu: must not be negative/,
      /^systemReserved\.memory: must be a quantity/,
      'systemReserved.hugepages-2Mi',
    ],
  },
  'more cpu than there is': {
    config: { kubeReserved: { cpu: '1500m' }, systemReserved: { cpu: '600m' } },
    problems: [/^kubeReserved\.cpu: .*\(2100m\) must not exceed the 2 of/],
  },
  'all of the cpu': { config: { kubeReserved: { cpu: '2' } } },
  'more memory than there is': {
    config: { systemReserved: { memory: '8Gi' } },
    problems: [/^systemReserved\.memory: .*must not exceed the 8Gi/],
  },
  'an eviction threshold above the memory': {
    config: { evictionHard: { 'memory.available': '9Gi' } },
    problems: ['evictionHard.memory.available'],
  },
  'the same, left out of the reckoning': {
    config: { systemReserved: { memory: '8Gi' } },
    around: {
      settings: { containers: { ...defaultSettings.containers, allocatableIgnoresEviction: true } },
    },
  },
  'reserved CPUs': { config: { reservedSystemCPUs: '0-1' } },
  'reserved CPUs unreadable': {
    config: { reservedSystemCPUs: '0-' },
    problems: [/^reservedSystemCPUs: must be a list/],
  },
  'reserved CPUs that are not there': {
    config: { reservedSystemCPUs: '0,2-3' },
    problems: [/^reservedSystemCPUs: must name online CPUs only \(0-1\), not 2-3/],
  },
  'reserved CPUs beside cgroups': {
    config: { reservedSystemCPUs: '0', systemReservedCgroup: '/system', kubeReservedCgroup: '/kube' },
    problems: [/with systemReservedCgroup/, /with kubeReservedCgroup/],
  },
  'reserved CPUs beside amounts': {
    config: { reservedSystemCPUs: '0', kubeReserved: { cpu: '5' } },
    warnings: [/^kubeReserved\.cpu: is ignored/],
  },
  'enforcements with their cgroups': {
    config: {
      enforceNodeAllocatable: ['pods', 'system-reserved', 'kube-reserved-compressible'],
      systemReservedCgroup: '/system',
      kubeReservedCgroup: '/kube',
    },
  },
  'enforcements without their cgroups': {
    config: { enforceNodeAllocatable: ['system-reserved-compressible', 'kube-reserved'] },
    problems: [/\[0\]: needs systemReservedCgroup/, /\[1\]: needs kubeReservedCgroup/],
  },
  'enforcement unknown, doubled': {
    config: { enforceNodeAllocatable: ['pods', 'pod', 'pods'] },
    problems: [/\[1\]: must be "pods".*did you mean pods\?/, /\[2\]: must not be listed twice/],
  },
  'enforcement none alone': { config: { enforceNodeAllocatable: ['none'], cgroupsPerQOS: false } },
  'enforcement none with others': {
    config: { enforceNodeAllocatable: ['none', 'pods'] },
    problems: [/must stand alone/],
  },
  'enforcement without QoS cgroups': { config: { cgroupsPerQOS: false }, problems: [/needs cgroupsPerQOS: true/] },
  'enforcement whole and compressible': {
    config: {
      enforceNodeAllocatable: [
        'system-reserved',
        'system-reserved-compressible',
        'kube-reserved',
        'kube-reserved-compressible',
      ],
      systemReservedCgroup: '/system',
      kubeReservedCgroup: '/kube',
    },
    problems: [/both system-reserved and/, /both kube-reserved and/],
  },
  'system cgroups without a root': {
    config: { systemCgroups: '/system' },
    problems: [/^systemCgroups: needs cgroupRoot/],
  },
  'system cgroups': { config: { systemCgroups: '/system', cgroupRoot: '/' } },
  'kubelet cgroup elsewhere': {
    config: { kubeletCgroups: '/a', kubeReservedCgroup: '/b' },
    warnings: ['kubeletCgroups'],
  },
  'cgroup driver': { config: { cgroupDriver: 'systemd' } },
  'cgroup driver unknown': { config: { cgroupDriver: 'moon' }, warnings: ['cgroupDriver'] },
  'QoS reservation': { config: { qosReserved: { memory: '50%' } }, around: { gates: { QOSReserved: true } } },
  'QoS reservation without the gate': {
    config: { qosReserved: { memory: '50%' } },
    warnings: [/feature gate QOSReserved/],
  },
  'QoS reservation of cpu': { config: { qosReserved: { cpu: '50%' } }, problems: ['qosReserved.cpu'] },
  'QoS reservation without percent': { config: { qosReserved: { memory: '50' } }, problems: ['qosReserved.memory'] },
  'QoS reservation of too much': { config: { qosReserved: { memory: '101%' } }, problems: ['qosReserved.memory'] },
});
