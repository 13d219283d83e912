/** Pods for a guest. */
import { BUSYBOX_IMAGE } from '../../../tools/machine/images.ts';

export const pod = (name: string, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  // No network card in a guest, so no pod network either.
  spec: { hostNetwork: true, terminationGracePeriodSeconds: 1, restartPolicy: 'Never', ...spec },
});

export const container = (name: string, script: string, limits?: object) => ({
  name,
  image: BUSYBOX_IMAGE,
  command: ['sh', '-c', script],
  ...(limits === undefined ? {} : { resources: { limits } }),
});
