/** Starts a guest and waits to be killed: before it is up, or after. */
import { lab } from '../../lab.ts';

await lab.guest({ kubelets: [] });
setInterval(() => undefined, 1000);
