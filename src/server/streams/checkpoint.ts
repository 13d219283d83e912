/** `/checkpoint`: writes the state of a running container to an archive on this node, if the runtime supports it. */
import { join } from 'node:path';
import type { ContainerId } from '../../api/ids.ts';
import { allContainers } from '../../api/pod-traits.ts';
import { formatTimestamp } from '../../api/timestamp.ts';
import type { Clock } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { type Answer, type Exchange, jsonAnswer, notFound, type Route, textAnswer } from '../routes.ts';
import { fullName, type ServedPods } from './served-pods.ts';

export interface CheckpointDeps {
  readonly clock: Clock;
  readonly pods: ServedPods;
  checkpoint(
    request: { readonly containerId: ContainerId; readonly location: string; readonly timeoutSeconds: number },
    signal: AbortSignal,
  ): Promise<void>;
}

/** `directory`: for the archives. */
export function createCheckpointRoute(deps: CheckpointDeps, directory: string): Route {
  return {
    name: 'checkpoint',
    methods: ['POST'],
    pattern: '/checkpoint/{namespace}/{pod}/{container}',
    access: { subresource: 'checkpoint', verb: 'method' },
    port: 'secure',
    switch: 'debugging',
    audited: true,
    handle: async (exchange) => exchange.answer(await checkpoint(deps, directory, exchange)),
  };
}

async function checkpoint(deps: CheckpointDeps, directory: string, exchange: Exchange): Promise<Answer> {
  const { namespace = '', pod = '', container = '' } = exchange.parameters;
  const found = deps.pods.find(namespace, pod);
  if (found === undefined) return notFound('pod does not exist');
  if (!allContainers(found.pod).some(({ name }) => name === container)) {
    return notFound(`container ${container} does not exist`);
  }
  const timeout = exchange.query.getAll('timeout').at(-1) ?? '0';
  if (!/^[+-]?\d{1,15}$/.test(timeout)) return notFound('cannot parse value of timeout parameter');
  const failed = (reason: string) =>
    textAnswer(500, `checkpointing of ${namespace}/${pod}/${container} failed (${reason})`);
  try {
    const id = await deps.pods.runningContainer(found.uid, container, exchange.signal);
    if (id === undefined) return failed(`container ${container} not found`);
    const name = `checkpoint-${fullName(found)}-${container}-${formatTimestamp(deps.clock.now())}.tar`;
    const location = join(directory, name);
    await deps.checkpoint({ containerId: id, location, timeoutSeconds: Number(timeout) }, exchange.signal);
    return jsonAnswer({ items: [location] });
  } catch (error) {
    return failed(describeError(error));
  }
}
