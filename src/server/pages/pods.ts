/** `/pods` and `/runningpods/`: the pods that should run here, and those that run according to the runtime. */
import type { Pod } from '../../api/pod.ts';
import type { RunningPod } from '../../model/pod-identity.ts';
import { jsonAnswer, type Route } from '../routes.ts';

export interface PodPagesDeps {
  /** With their statuses. */
  readonly pods: () => readonly Pod[];
  readonly runningPods: (signal: AbortSignal) => Promise<readonly RunningPod[]>;
}

const ACCESS = { fineGrained: 'pods', subresource: 'proxy', verb: 'method' } as const;

export function podRoutes({ pods, runningPods }: PodPagesDeps): readonly Route[] {
  return [
    {
      name: 'pods',
      methods: ['GET'],
      pattern: '/pods',
      access: ACCESS,
      port: 'both',
      switch: 'always',
      handle: ({ answer }) => answer(jsonAnswer(podList(pods().map(withoutType)))),
    },
    {
      name: 'runningpods',
      methods: ['GET'],
      pattern: '/runningpods/',
      access: ACCESS,
      port: 'secure',
      switch: 'debugging',
      handle: async ({ answer, signal }) => answer(jsonAnswer(podList((await runningPods(signal)).map(runningPod)))),
    },
  ];
}

const podList = (items: readonly object[]) => ({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items });

/** The items of a list have no kind: the list has it. */
function withoutType(pod: Pod): object {
  const { metadata, spec, status = {} } = pod;
  return { metadata, spec, status };
}

function runningPod({ uid, name, namespace, containers }: RunningPod): object {
  return {
    metadata: { name, namespace, uid },
    spec: { containers: containers.map((container) => ({ ...container, resources: {} })) },
    status: {},
  };
}
