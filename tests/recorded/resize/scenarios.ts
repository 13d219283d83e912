/** Pods that are resized: what each is made of, and what is asked of it, one step after the other. */
import { stays } from '../../cluster/pods-support.ts';
import { BUSYBOX } from '../../node/pod-support.ts';

/** When a step is over. */
export type Settled = 'completed' | 'deferred' | 'error' | 'reverted' | 'resting';

export interface Step {
  /** The part of the pod's spec that is sent to the subresource `resize`. */
  readonly resize?: object;
  /** Another pod that is deleted instead. */
  readonly remove?: string;
  /** A shell command that is run in the pod's first container instead. */
  readonly run?: string;
  readonly until: Settled;
}

export interface Scenario {
  readonly name: string;
  readonly spec: object;
  /** Pods beside it: what they request of the node's free CPU, in thousandths. */
  readonly beside?: Readonly<Record<string, object>>;
  readonly steps: readonly Step[];
  /** The pod is not waited for before its first step. */
  readonly early?: boolean;
}

type Amounts = readonly [cpu: string, memory: string];
const amounts = ([cpu, memory]: Amounts) => ({ cpu, memory });
const both = (cpu: string, memory: string) => ({
  requests: amounts([cpu, memory]),
  limits: amounts([cpu, memory]),
});
const range = (requests: Amounts, limits: Amounts) => ({ requests: amounts(requests), limits: amounts(limits) });
const only = (resources: object, name = 'main') => ({ containers: [{ name, resources }] });
const made = (resources: object, more: object = {}) => ({ containers: [stays('main', { resources, ...more })] });

const restarting = (cpu: string, memory: string) => ({
  resizePolicy: [
    { resourceName: 'cpu', restartPolicy: cpu },
    { resourceName: 'memory', restartPolicy: memory },
  ],
});

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'guaranteed',
    spec: made(both('100m', '32Mi')),
    steps: [
      { resize: only(both('200m', '64Mi')), until: 'completed' },
      { resize: only(both('50m', '40Mi')), until: 'completed' },
      { resize: only(both('150m', '36Mi')), until: 'completed' },
    ],
  },
  {
    name: 'burstable',
    spec: made(range(['50m', '16Mi'], ['100m', '64Mi'])),
    steps: [
      { resize: only({ requests: { cpu: '70m' } }), until: 'completed' },
      { resize: only({ requests: { memory: '24Mi' } }), until: 'completed' },
      { resize: only({ limits: { cpu: '200m', memory: '48Mi' } }), until: 'completed' },
      { resize: only(range(['20m', '48Mi'], ['150m', '96Mi'])), until: 'completed' },
    ],
  },
  {
    name: 'limits-added',
    spec: made({ requests: { cpu: '20m', memory: '16Mi' } }),
    steps: [{ resize: only({ limits: { cpu: '100m', memory: '64Mi' } }), until: 'completed' }],
  },
  {
    name: 'requests-added',
    spec: made({ requests: { cpu: '20m' } }),
    steps: [{ resize: only({ requests: { cpu: '30m', memory: '16Mi' } }), until: 'completed' }],
  },
  {
    name: 'tiny',
    spec: made(range(['1m', '16Mi'], ['5m', '32Mi'])),
    steps: [{ resize: only(range(['2m', '16Mi'], ['8m', '32Mi'])), until: 'completed' }],
  },
  {
    name: 'two-ways',
    spec: {
      containers: [
        stays('one', { resources: both('100m', '64Mi') }),
        stays('two', { resources: both('100m', '32Mi') }),
        stays('three'),
      ],
    },
    steps: [
      {
        resize: {
          containers: [
            { name: 'one', resources: both('60m', '96Mi') },
            { name: 'two', resources: both('180m', '24Mi') },
          ],
        },
        until: 'completed',
      },
    ],
  },
  {
    name: 'restart-for-memory',
    spec: made(both('100m', '32Mi'), restarting('NotRequired', 'RestartContainer')),
    steps: [
      { resize: only(both('120m', '32Mi')), until: 'completed' },
      { resize: only(both('150m', '48Mi')), until: 'completed' },
    ],
  },
  {
    name: 'restart-for-all',
    spec: {
      containers: [
        stays('main', { resources: both('100m', '32Mi'), ...restarting('RestartContainer', 'RestartContainer') }),
        stays('beside', { resources: both('50m', '16Mi') }),
      ],
    },
    steps: [
      {
        resize: {
          containers: [
            { name: 'main', resources: both('80m', '48Mi') },
            { name: 'beside', resources: both('70m', '24Mi') },
          ],
        },
        until: 'completed',
      },
    ],
  },
  {
    name: 'below-usage',
    spec: {
      volumes: [{ name: 'memory', emptyDir: { medium: 'Memory' } }],
      containers: [
        {
          name: 'main',
          image: BUSYBOX,
          command: [
            'sh',
            '-c',
            "dd if=/dev/zero of=/m/x bs=1M count=24 2>/dev/null; trap 'exit 0' TERM; sleep 1000 & wait",
          ],
          volumeMounts: [{ name: 'memory', mountPath: '/m' }],
          readinessProbe: { exec: { command: ['test', '-s', '/m/x'] }, periodSeconds: 1 },
          resources: both('100m', '64Mi'),
        },
      ],
    },
    steps: [
      { resize: only(both('100m', '16Mi')), until: 'error' },
      { run: 'echo -n x > /m/x', until: 'completed' },
    ],
  },
  {
    name: 'pod-level',
    spec: {
      resources: both('200m', '64Mi'),
      containers: [stays('one', { resources: both('50m', '16Mi') }), stays('two')],
    },
    steps: [
      { resize: { resources: both('300m', '96Mi') }, until: 'completed' },
      { resize: { resources: both('150m', '80Mi') }, until: 'completed' },
      { resize: { containers: [{ name: 'one', resources: both('70m', '24Mi') }] }, until: 'completed' },
    ],
  },
  {
    name: 'sidecar',
    spec: {
      initContainers: [stays('side', { restartPolicy: 'Always', resources: both('50m', '16Mi') })],
      containers: [stays('main', { resources: both('50m', '16Mi') })],
    },
    steps: [{ resize: { initContainers: [{ name: 'side', resources: both('80m', '24Mi') }] }, until: 'completed' }],
  },
  {
    name: 'init',
    early: true,
    spec: {
      initContainers: [
        {
          name: 'first',
          image: BUSYBOX,
          command: ['sh', '-c', "trap 'exit 0' USR1; while true; do sleep 1000 & wait $!; done"],
          resources: both('50m', '16Mi'),
        },
      ],
      containers: [stays('main', { resources: both('50m', '16Mi') })],
    },
    steps: [{ resize: { initContainers: [{ name: 'first', resources: both('80m', '24Mi') }] }, until: 'completed' }],
  },
  {
    name: 'not-started',
    early: true,
    spec: { containers: [{ name: 'main', image: 'localhost/none:1', resources: both('50m', '16Mi') }] },
    steps: [{ resize: only(both('80m', '24Mi')), until: 'completed' }],
  },
  {
    name: 'never-restarted',
    spec: { restartPolicy: 'Never', ...made(both('50m', '16Mi')) },
    steps: [{ resize: only(both('80m', '24Mi')), until: 'completed' }],
  },
  {
    name: 'deferred',
    spec: made(both('100m', '32Mi')),
    beside: { filler: { leave: 300 } },
    steps: [
      { resize: only(both('500m', '32Mi')), until: 'deferred' },
      { resize: only(both('600m', '40Mi')), until: 'deferred' },
      { remove: 'filler', until: 'completed' },
    ],
  },
  {
    name: 'taken-back',
    spec: made(both('100m', '32Mi')),
    beside: { filler: { leave: 300 } },
    steps: [
      { resize: only(both('500m', '32Mi')), until: 'deferred' },
      { resize: only(both('100m', '32Mi')), until: 'reverted' },
      { remove: 'filler', until: 'resting' },
    ],
  },
];
