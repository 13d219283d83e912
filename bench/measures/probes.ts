/** The price of probes. */
import { setTimeout as delay } from 'node:timers/promises';
import { nodeMeasure } from '../measure.ts';
import { podSpec, runStaticPods } from '../world/static-pods.ts';
import { watchUsage } from '../world/usage.ts';

const PODS = 60;
const SETTLE_MS = 5000;
const PERIOD_MS = 20_000;
const PROBED = podSpec({ readinessProbe: { exec: { command: ['true'] }, periodSeconds: 5 } });

export const probes = nodeMeasure({
  name: 'probes',
  about: `${PODS} static pods, each with an exec readiness probe every 5 s`,
  needs: 'probes',
  mostRounds: 2,
  figures: {
    kubeletCpu: { text: 'CPU of the kubelet', unit: '%' },
    containerdCpu: { text: 'CPU of containerd', unit: '%' },
    runtimeCpu: { text: 'CPU of containerd, shims and runc', unit: '%' },
    memory: { text: 'resident memory', unit: 'MB' },
    // Not a matter of better or worse: shows that both did the same work (60 pods every 5 s: 720).
    execs: { text: 'probes carried out', unit: '/min' },
  },
  run: async (kubelet, world) => {
    const { node, size } = world;
    await kubelet.start();
    await runStaticPods(world, size.pods(PODS), PROBED);
    await delay(size.period(SETTLE_MS));
    const usage = await watchUsage(node, size.period(PERIOD_MS));
    return {
      kubeletCpu: usage.kubeletCpu,
      containerdCpu: usage.containerdCpu,
      runtimeCpu: usage.runtimeCpu,
      memory: usage.kubeletMemory,
      execs: usage.callsAMinute('ExecSync'),
    };
  },
});
