import { judgeAll } from '../judge-testing.ts';

const hugePages = { numaNode: 0, limits: { 'hugepages-2Mi': '4Mi' } };

judgeAll({
  'memory policy unknown': { config: { memoryManagerPolicy: 'BestEffort' }, problems: ['memoryManagerPolicy'] },
  'static, the default threshold alone reserved': {
    config: { memoryManagerPolicy: 'Static', reservedMemory: [{ numaNode: 0, limits: { memory: '100Mi' } }] },
  },
  'static, all that is reserved together': {
    config: {
      memoryManagerPolicy: 'Static',
      kubeReserved: { memory: '200Mi' },
      systemReserved: { memory: '100Mi' },
      evictionHard: { 'memory.available': '50%' },
      reservedMemory: [{ numaNode: 0, limits: { memory: '4396Mi' } }],
    },
  },
  'static, on two NUMA nodes': {
    config: {
      memoryManagerPolicy: 'Static',
      reservedMemory: [
        { numaNode: 0, limits: { memory: '60Mi' } },
        { numaNode: 1, limits: { memory: '40Mi' } },
      ],
    },
    around: { machine: { numaNodes: [0, 1] } },
  },
  'static without reservedMemory': {
    config: { memoryManagerPolicy: 'Static' },
    problems: [/^reservedMemory: .*memory of all NUMA nodes to add up to 100Mi/],
  },
  'static with another amount': {
    config: { memoryManagerPolicy: 'Static', reservedMemory: [{ numaNode: 0, limits: { memory: '101Mi' } }] },
    problems: ['reservedMemory'],
  },
  'static with nothing reserved at all': {
    config: { memoryManagerPolicy: 'Static', evictionHard: { 'memory.available': '0%' } },
    problems: [/^memoryManagerPolicy: needs some memory/],
  },
  'static, a NUMA node that is not there, huge pages that no one reserved': {
    config: {
      memoryManagerPolicy: 'Static',
      reservedMemory: [{ numaNode: 3, limits: { memory: '100Mi' } }, hugePages],
    },
    problems: [/^reservedMemory\[0\]\.numaNode: must be a NUMA node of this machine \(0\)/, /the hugepages-2Mi of all/],
  },
  'reservedMemory for nothing': { config: { reservedMemory: [hugePages] }, warnings: ['reservedMemory'] },
  'reservedMemory with every mistake': {
    config: {
      reservedMemory: [
        { numaNode: 0, limits: { memory: '0', cpu: '1' } },
        { numaNode: 0, limits: { memory: '1Gi' } },
        { numaNode: 1, limits: { memory: '1Gi' } },
      ],
    },
    problems: [
      /^reservedMemory\[0\]\.limits\.memory: must not be zero/,
      /^reservedMemory\[0\]\.limits\.cpu: cpu can't be reserved/,
      /^reservedMemory\[1\]\.limits\.memory: NUMA node 0 has a value/,
    ],
    warnings: ['reservedMemory'],
  },
  'swap behaviour': { config: { memorySwap: { swapBehavior: 'LimitedSwap' } } },
  'swap behaviour unknown': {
    config: { memorySwap: { swapBehavior: 'Some' } },
    problems: [/^memorySwap\.swapBehavior: must be "", "NoSwap" or "LimitedSwap"/],
  },
  'swap with cgroup v1': {
    config: { memorySwap: { swapBehavior: 'LimitedSwap' }, failCgroupV1: false },
    around: { machine: { cgroupVersion: 1 } },
    problems: [/cgroup v2 only/],
  },
  'throttling factor at its highest': { config: { memoryThrottlingFactor: 1 } },
  'throttling factor zero': { config: { memoryThrottlingFactor: 0 }, problems: ['memoryThrottlingFactor'] },
  'throttling factor above one': { config: { memoryThrottlingFactor: 1.01 }, problems: ['memoryThrottlingFactor'] },
  'reservation policy': {
    config: { memoryReservationPolicy: 'TieredReservation' },
    around: { gates: { MemoryQoS: true } },
  },
  'reservation policy without the gate': {
    config: { memoryReservationPolicy: 'TieredReservation' },
    problems: [/needs the feature gate MemoryQoS/],
  },
  'reservation policy unknown': { config: { memoryReservationPolicy: 'Some' }, problems: ['memoryReservationPolicy'] },
  'memory QoS with cgroup v1': {
    config: { failCgroupV1: false },
    around: { gates: { MemoryQoS: true }, machine: { cgroupVersion: 1 } },
    warnings: ['featureGates.MemoryQoS'],
  },
});
