/** Whether the pod's sandbox can be used, or why a new one is needed and which attempt it is. */
import type { Pod } from '../api/pod.ts';
import type { Observation, ObservedSandbox } from '../model/observation.ts';

export type SandboxVerdict =
  | { readonly kind: 'keep'; readonly sandbox: ObservedSandbox }
  | { readonly kind: 'new'; readonly attempt: number; readonly replaces: boolean; readonly reason: string };

export function judgeSandbox(pod: Pod, { sandboxes }: Observation): SandboxVerdict {
  const [newest] = sandboxes;
  if (newest === undefined) return { kind: 'new', attempt: 0, replaces: false, reason: 'the pod has no sandbox' };
  const reason = faultOf(pod, newest, sandboxes);
  if (reason === undefined) return { kind: 'keep', sandbox: newest };
  return { kind: 'new', attempt: newest.attempt + 1, replaces: true, reason };
}

function faultOf(pod: Pod, newest: ObservedSandbox, all: readonly ObservedSandbox[]): string | undefined {
  const hostNetwork = pod.spec.hostNetwork ?? false;
  const ready = all.filter((sandbox) => sandbox.ready).length;
  if (ready > 1) return `the pod has ${ready} ready sandboxes`;
  if (!newest.ready) return 'the sandbox is not ready';
  if (newest.hostNetwork !== hostNetwork) {
    return hostNetwork ? 'the sandbox is not in the host network' : 'the sandbox is in the host network';
  }
  if (!hostNetwork && newest.ips.length === 0) return 'the sandbox has no IP address';
  return undefined;
}
