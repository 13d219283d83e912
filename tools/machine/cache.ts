/** Where what is expensive to make is kept between runs: outside the work tree, shared by every check-out. */
import { homedir } from 'node:os';
import { join } from 'node:path';

export function cacheRoot(env: NodeJS.ProcessEnv): string {
  const own = env['KUBELET_TS_CACHE'];
  if (own !== undefined && own !== '') return own;
  const xdg = env['XDG_CACHE_HOME'];
  return join(xdg !== undefined && xdg !== '' ? xdg : join(homedir(), '.cache'), 'kubelet-ts');
}
