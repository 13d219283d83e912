/** Where `make run` keeps everything of its node; one node at a time for each name. */
import { createPlace, type WorldPlace } from '../machine/ledger.ts';

export function demoPlace(env: NodeJS.ProcessEnv): WorldPlace {
  const name = env['KUBELET_TS_DEMO'] || 'demo';
  return createPlace(`/var/opt/kubelet-ts/${name}`, `kubelet-ts-${name}-`);
}
