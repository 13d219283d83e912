/** `dist/kubelet`: a small launcher over one bundled file. `node tools/build.ts` */
import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundleKubelet } from './bundle/bundle.ts';
import { makeCodeCache } from './bundle/code-cache.ts';
import { NODE_OPTIONS } from './bundle/node-options.ts';
import { bundlePage } from './bundle/page.ts';

const root = resolve(import.meta.dirname, '..');
const dist = join(root, 'dist');

/**
 * Picks the Node that was pinned with the sources, or one that lies beside the launcher. `exec` keeps the process id, so that signals,
 * systemd and the lock file mean the kubelet itself. The settings were measured: fewer idle threads and memory arenas, no cost seen.
 */
const LAUNCHER = `#!/bin/sh
self=$0
[ -L "$self" ] && self=$(readlink -f "$self")
here=\${self%/*}
[ "$here" = "$self" ] && here=.
for node in "$KUBELET_NODE" "$here/node" "$here/../node_modules/node/bin/node"; do
  if [ -n "$node" ] && [ -x "$node" ]; then
    export MALLOC_ARENA_MAX="\${MALLOC_ARENA_MAX:-1}"
    exec "$node" ${NODE_OPTIONS.join(' ')} "$here/boot.cjs" "$@"
  fi
done
echo "kubelet: no Node found beside $here; set KUBELET_NODE to the path of a Node 26" >&2
exit 1
`;

/** Tests and a running `make run` may read the old files at this moment: each new one takes its place in one step. */
function replaceFile(path: string, content: string | Uint8Array, mode = 0o644): void {
  const fresh = `${path}.${process.pid}.tmp`;
  writeFileSync(fresh, content);
  chmodSync(fresh, mode);
  renameSync(fresh, path);
}

const started = performance.now();
const [{ code, map, boot }, page] = await Promise.all([bundleKubelet(root), bundlePage(root)]);
mkdirSync(join(dist, 'ui'), { recursive: true });
replaceFile(join(dist, 'kubelet.cjs.map'), map);
replaceFile(join(dist, 'kubelet.cjs'), code);
replaceFile(join(dist, 'boot.cjs'), boot);
replaceFile(join(dist, 'kubelet.code-cache'), makeCodeCache(join(dist, 'kubelet.cjs')));
for (const [name, content] of page) replaceFile(join(dist, 'ui', name), content);
replaceFile(join(dist, 'kubelet'), LAUNCHER, 0o755);
console.log(
  `dist/kubelet: ${Math.round(Buffer.byteLength(code) / 1024)} KB in ${Math.round(performance.now() - started)} ms`,
);
