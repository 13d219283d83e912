/**
 * The test suites, in the order in which they run: what is quick and finds most comes first.
 * Suites that start real components share the machine: two or more files run at a time where they mostly wait and each has a
 * sealed world; one, where they look at times or at the whole machine. A suite that leaves a core idle has another one beside it.
 */
import { availableParallelism } from 'node:os';

export interface Suite {
  readonly name: string;
  readonly files: readonly string[];
  /** How many files run at once. */
  readonly atOnce: number;
  /** Whether the sources that its files load are kept compiled. Not where programs under test would inherit that. */
  readonly keepCompiled?: boolean;
  /** Another suite that runs at the same time: this one keeps one core busy, or mostly waits. */
  readonly beside?: string;
  /** Patterns of files that another suite has. */
  readonly except?: readonly string[];
  /** Longest time for one test, in seconds: a hang must become a failure that says where. */
  readonly timeoutSeconds: number;
  readonly about: string;
}

/** Tests that compare times, or what is on the machine before and after. */
const ALONE: readonly string[] = [
  'tests/node/better-probes.test.ts',
  'tests/node/better-speed.test.ts',
  'tests/node/soak.test.ts',
  'tests/node/volumes-faults.test.ts',
  'tests/run/*.test.ts',
];

/** Files of which some wait while others compute: one more than there are cores keeps those busy. The runner alone would leave one idle. */
const ONE_MORE_THAN_CORES = availableParallelism() + 1;

export const SUITES: readonly Suite[] = [
  {
    name: 'unit',
    files: [
      'src/**/*.test.ts',
      'tools/**/*.test.ts',
      'tests/lab/binaries/*.test.ts',
      'tests/lab/unit/*.test.ts',
      'tests/conformance/node/*.test.ts',
      'tests/pods/*.test.ts',
      'tests/recorded/**/*.test.ts',
      'tests/fuzz/*.test.ts',
      'bench/**/*.test.ts',
      'ui/*.test.ts',
    ],
    atOnce: ONE_MORE_THAN_CORES,
    keepCompiled: true,
    timeoutSeconds: 120,
    about: 'rules and parts, beside the code',
  },
  {
    name: 'process',
    files: ['tests/process/*.test.ts'],
    atOnce: 1,
    timeoutSeconds: 300,
    about: 'dist/kubelet as a process: flags, configuration, signals, lock file',
  },
  {
    name: 'lab',
    files: ['tests/lab/*.test.ts'],
    atOnce: 1,
    beside: 'process',
    timeoutSeconds: 600,
    about: 'the lab itself: sealed worlds with a real containerd and registry',
  },
  {
    name: 'node',
    files: ['tests/node/*.test.ts'],
    except: ALONE,
    atOnce: ONE_MORE_THAN_CORES,
    timeoutSeconds: 600,
    about: 'the kubelet on a real runtime',
  },
  {
    name: 'bench',
    files: ['tests/bench/*.test.ts'],
    atOnce: 1,
    beside: 'node',
    timeoutSeconds: 900,
    about: 'the short form of `make bench`',
  },
  {
    name: 'alone',
    files: ALONE,
    atOnce: 1,
    timeoutSeconds: 600,
    about: 'the kubelet against the clock and under kills, and `make run`',
  },
  {
    name: 'attacks',
    files: ['tests/attacks/*.test.ts'],
    atOnce: 2,
    timeoutSeconds: 600,
    about: 'hostile pods, images, files and callers against a kubelet on a real runtime',
  },
  {
    name: 'ui',
    files: ['tests/page/*.test.ts'],
    atOnce: 1,
    beside: 'attacks',
    timeoutSeconds: 600,
    about: 'the page on port 4194 in a real browser',
  },
  {
    name: 'cluster',
    files: ['tests/lab/cluster/*.test.ts', 'tests/cluster/*.test.ts', 'tests/conformance/*.test.ts'],
    atOnce: 2,
    timeoutSeconds: 900,
    about: 'a real control plane (Kubernetes 1.36) and the upstream suite in short form',
  },
  {
    name: 'guest',
    files: ['tests/lab/guest/*.test.ts'],
    atOnce: 1,
    beside: 'cluster',
    timeoutSeconds: 1800,
    about: 'a guest with systemd and cgroup v2 under qemu',
  },
];

/** The suites that a person named, all of them if none; an unknown name is an error. */
export function chooseSuites(names: readonly string[]): readonly Suite[] {
  const known = SUITES.map((suite) => suite.name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`no suite named ${unknown.join(', ')}; there are ${known.join(', ')}`);
  return names.length === 0 ? SUITES : SUITES.filter((suite) => names.includes(suite.name));
}

/** What runs at the same time, in order. A suite stands alone if the one that it runs beside was not chosen. */
export function stagesOf(suites: readonly Suite[]): readonly (readonly Suite[])[] {
  const stages: Suite[][] = [];
  for (const suite of suites) {
    const stage = stages.find((others) => others[0]?.name === suite.beside);
    if (stage === undefined) stages.push([suite]);
    else stage.push(suite);
  }
  return stages;
}
