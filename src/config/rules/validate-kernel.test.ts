import { judgeAll } from '../judge-testing.ts';

judgeAll({
  'cgroup v1': {
    config: {},
    around: { machine: { cgroupVersion: 1 } },
    problems: [/^failCgroupV1: .*set it to false/],
  },
  'cgroup v1, wanted': { config: { failCgroupV1: false }, around: { machine: { cgroupVersion: 1 } } },
  'single process kill with cgroup v1': {
    config: { failCgroupV1: false, singleProcessOOMKill: false },
    around: { machine: { cgroupVersion: 1 } },
    problems: ['singleProcessOOMKill'],
  },
  'single process kill with cgroup v2': { config: { singleProcessOOMKill: false } },
  'user namespaces': { config: { userNamespaces: { idsPerPod: 131_072 } } },
  'user namespaces too small': {
    config: { userNamespaces: { idsPerPod: 65_535 } },
    problems: ['userNamespaces.idsPerPod'],
  },
  'user namespaces, no multiple': {
    config: { userNamespaces: { idsPerPod: 65_537 } },
    problems: [/multiple of 65536/],
  },
  'user namespaces too large': {
    config: { userNamespaces: { idsPerPod: 2 ** 32 } },
    problems: ['userNamespaces.idsPerPod'],
  },
});
