/** `/pods` and `/runningpods/`: the pods that should run here, and those that run according to the runtime. */
import type { Pod } from '../../api/pod.ts';
import type { RunningPod } from '../../model/pod-identity.ts';
import type { Explain } from '../explanations.ts';
import { answerLarge, jsonWithList } from '../large-answer.ts';
import { type Exchange, errorPage, jsonAnswer, type Route } from '../routes.ts';

export interface PodPagesDeps {
  /** With their statuses. */
  readonly pods: () => readonly Pod[];
  readonly runningPods: (signal: AbortSignal) => Promise<readonly RunningPod[]>;
  readonly explain: Explain;
}

const ACCESS = { fineGrained: 'pods', subresource: 'proxy', verb: 'method' } as const;

export function podRoutes({ pods, runningPods, explain }: PodPagesDeps): readonly Route[] {
  return [
    {
      name: 'pods',
      methods: ['GET'],
      pattern: '/pods',
      access: ACCESS,
      port: 'both',
      switch: 'always',
      handle: (exchange) => sendPods(exchange, pods()),
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
    {
      name: 'explain',
      methods: ['GET'],
      pattern: '/explain/{namespace}/{pod}',
      access: ACCESS,
      port: 'secure',
      switch: 'always',
      handle: async ({ parameters: { namespace = '', pod = '' }, signal, answer }) => {
        const found = await explain(namespace, pod, signal);
        answer(found === undefined ? errorPage(404, `pod ${namespace}/${pod} not found`) : jsonAnswer(found));
      },
    },
  ];
}

const LIST = { kind: 'PodList', apiVersion: 'v1', metadata: {} } as const;
const podList = (items: readonly object[]) => ({ ...LIST, items });

const sendPods = (exchange: Exchange, pods: readonly Pod[]) =>
  answerLarge(exchange, 'application/json', jsonWithList(LIST, 'items', pods.values().map(withoutType)));

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
