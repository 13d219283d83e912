/** Pods of many shapes for the churn, each with what of it runs when nothing happens any more. */
import { idles } from '../node/better-support.ts';
import { runs } from '../node/pod-support.ts';

export interface ChurnPod {
  readonly spec: object;
  /** The containers that run at rest. */
  readonly atRest: readonly string[];
}

export function randomPod(random: () => number): ChurnPod {
  const shapes = Object.values(SHAPES);
  const shape = shapes[Math.floor(random() * shapes.length)] ?? SHAPES.plain;
  const { spec, atRest } = shape(random);
  // No two are alike, so an edit is always another pod.
  const mark = { name: 'MARK', value: String(random()) };
  const marked = spec.containers.map((container) => ({ ...container, env: [mark] }));
  return { spec: { terminationGracePeriodSeconds: 2, ...spec, containers: marked }, atRest };
}

interface Shape {
  readonly spec: { readonly containers: readonly object[] } & Readonly<Record<string, unknown>>;
  readonly atRest: readonly string[];
}

const seconds = (random: () => number, most: number): string => (random() * most).toFixed(2);

const SHAPES = {
  plain: (): Shape => ({ spec: { containers: [idles('a')] }, atRest: ['a'] }),
  three: (random: () => number): Shape => ({
    spec: {
      initContainers: [runs('i', `sleep ${seconds(random, 1)}`)],
      containers: [idles('a'), idles('b'), idles('c')],
    },
    atRest: ['a', 'b', 'c'],
  }),
  sidecar: (): Shape => ({
    spec: { initContainers: [idles('s', { restartPolicy: 'Always' })], containers: [idles('a')] },
    atRest: ['a', 's'],
  }),
  job: (random: () => number): Shape => ({
    spec: {
      restartPolicy: 'Never',
      containers: [runs('a', `sleep ${seconds(random, 2)}; exit ${random() < 0.5 ? 0 : 1}`)],
    },
    atRest: [],
  }),
  deaf: (): Shape => ({
    spec: { terminationGracePeriodSeconds: 1, containers: [runs('a', `trap '' TERM; sleep 100000`)] },
    atRest: ['a'],
  }),
  hooks: (random: () => number): Shape => ({
    spec: {
      containers: [
        idles('a', {
          lifecycle: {
            postStart: { exec: { command: ['sleep', seconds(random, 1)] } },
            preStop: { exec: { command: ['sleep', seconds(random, 1)] } },
          },
        }),
      ],
    },
    atRest: ['a'],
  }),
  probed: (): Shape => ({
    spec: {
      containers: [
        idles('a', {
          readinessProbe: { exec: { command: ['true'] }, periodSeconds: 1, timeoutSeconds: 10 },
          startupProbe: { exec: { command: ['true'] }, periodSeconds: 1, timeoutSeconds: 10 },
        }),
      ],
      volumes: [{ name: 'e', emptyDir: {} }],
    },
    atRest: ['a'],
  }),
} as const;
