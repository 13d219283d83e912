/** Makes a world with a container in it, says so, and waits to be killed. */
import { BUSYBOX_IMAGE } from '../../../tools/machine/images.ts';
import { lab } from '../lab.ts';

const node = await lab.node({ kubelet: 'none' });
const { code, stderr } = await node.containerd.ctr('run', '--detach', BUSYBOX_IMAGE, 'busy', 'sleep', '1000');
if (code !== 0) throw new Error(stderr);
console.log(JSON.stringify({ id: node.id, anchor: node.world.anchorPid }));
setInterval(() => undefined, 1000);
