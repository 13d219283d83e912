/** Where `make run` keeps everything of its node. */
import { createPlace } from '../machine/ledger.ts';

export const DEMO_PLACE = createPlace('/var/opt/kubelet-ts/demo', 'kubelet-ts-demo-');
