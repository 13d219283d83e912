/** How long it took from the start of the machine until a new node was ready, and where the time went. */
import type { Gauge, Metrics } from './metrics.ts';

/** `registering`: its object is to be made. `ready`: the API server shows it as such. */
export type StartupStep = 'registering' | 'registered' | 'ready';

export interface StartupDeps {
  /** Wall clock, ms. */
  readonly now: () => number;
  /** Of this kubelet, wall clock, ms. */
  readonly startedAt: number;
  /** Of the machine, wall clock, ms; 0 where it is unknown. */
  readonly bootedAt: () => number;
}

export function createStartupMetrics(metrics: Metrics, deps: StartupDeps): (step: StartupStep) => void {
  const gauge = (name: string, help: string): Gauge =>
    metrics.gauge({ name: `kubelet_node_startup_${name}duration_seconds`, help });
  const gauges = {
    total: gauge('', 'Seconds from the start of the machine until its new node was ready.'),
    preKubelet: gauge('pre_kubelet_', 'Seconds from the start of the machine until the kubelet started.'),
    preRegistration: gauge('pre_registration_', 'Seconds from the start of the kubelet until it registered the node.'),
    registration: gauge('registration_', 'Seconds that it took to register the node.'),
    postRegistration: gauge('post_registration_', 'Seconds from the registration of the node until it was ready.'),
  };
  const times: Partial<Record<StartupStep, number>> = {};
  return (step) => {
    // A node that was there before has had its start, and each step counts once.
    if (times[step] !== undefined || (step !== 'registering' && times.registering === undefined)) return;
    times[step] = deps.now();
    const { registering, registered, ready } = times;
    if (registering === undefined || registered === undefined) return;
    const booted = deps.bootedAt();
    if (booted > 0) gauges.preKubelet.set((deps.startedAt - booted) / 1000);
    gauges.preRegistration.set((registering - deps.startedAt) / 1000);
    gauges.registration.set((registered - registering) / 1000);
    if (ready === undefined) return;
    // One that is made as ready may be seen so before the answer to its making is here.
    const end = Math.max(registered, ready);
    gauges.postRegistration.set((end - registered) / 1000);
    if (booted > 0) gauges.total.set((end - booted) / 1000);
  };
}
