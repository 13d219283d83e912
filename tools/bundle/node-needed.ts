/** Refuses a Node that can't run the kubelet, in words instead of a syntax error. Imported first, so it must run on any Node. */
import { isBuiltin } from 'node:module';

const OLDEST = 26;
const reason =
  Number(process.versions.node.split('.')[0]) < OLDEST
    ? `is older than ${OLDEST}`
    : isBuiltin('node:ffi')
      ? undefined
      : 'has no node:ffi, which the kubelet needs for the system calls that Node lacks';
if (reason !== undefined) {
  process.stderr.write(`kubelet: Node ${process.version} at ${process.execPath} ${reason}\n`);
  process.exit(1);
}
