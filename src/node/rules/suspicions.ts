/** Signs of mistakes in the set-up of this node: another kubelet with its name, a wrong clock, wrong credentials. */
import { formatDuration } from '../../api/duration.ts';
import type { KubeNode, NodeSystemInfo } from '../../api/node.ts';
import type { Lease } from './lease.ts';

type Machine = Pick<NodeSystemInfo, 'machineID' | 'systemUUID' | 'bootID'>;

const ADVICE = 'every node needs its own name (its host name, or --hostname-override)';

/** A status with another machine's identity, after ours was written, comes from another kubelet. Undefined: no problem. */
export function findTwinByStatus(node: KubeNode, own: Machine): string | undefined {
  const seen = node.status?.nodeInfo;
  if (seen === undefined || seen.bootID === '') return undefined;
  const isOwn = (['machineID', 'systemUUID', 'bootID'] as const).every((field) => seen[field] === own[field]);
  if (isOwn) return undefined;
  const addresses = (node.status?.addresses ?? []).filter(({ type }) => type.endsWith('IP'));
  const at = addresses.length === 0 ? '' : `, at ${addresses.map(({ address }) => address).join(' and ')}`;
  return (
    `another kubelet writes the status of node ${JSON.stringify(node.metadata.name)}: ` +
    `machine id ${seen.machineID} and boot id ${seen.bootID}${at}; here ${own.machineID} and ${own.bootID}; ${ADVICE}`
  );
}

/** A renewal that is not ours, of a lease that we have renewed before, comes from another kubelet. */
export function findTwinByLease(lease: Lease, ownRenewals: readonly string[]): string | undefined {
  const { renewTime = '', holderIdentity = '' } = lease.spec ?? {};
  if (ownRenewals.length === 0 || ownRenewals.includes(renewTime)) return undefined;
  return (
    `another kubelet renews the lease of node ${JSON.stringify(lease.metadata.name)}: ` +
    `by ${JSON.stringify(holderIdentity)} at ${renewTime}, our last was at ${ownRenewals.at(-1)}; ${ADVICE}`
  );
}

/** Below this, leases and tokens work; the Date header itself is rounded to a second. */
const TOLERATED_SKEW_MS = 5000;

export interface ServerDate {
  /** The server's clock and ours when its answer arrived. */
  readonly serverAt: number;
  readonly ownAt: number;
}

export function findClockSkew({ serverAt, ownAt }: ServerDate): string | undefined {
  const skew = ownAt - serverAt;
  if (Math.abs(skew) < TOLERATED_SKEW_MS) return undefined;
  const size = formatDuration(Math.round(Math.abs(skew) / 1000) * 1000);
  return (
    `the clock of this machine is ${size} ${skew > 0 ? 'ahead of' : 'behind'} the API server's: ` +
    'leases, tokens and certificates will be taken for expired or for not valid yet; synchronize it (NTP)'
  );
}

const NODE_USER = 'system:node:';

/** The API server refuses everything to credentials of another node. */
export function findWrongUser(username: string, nodeName: string): string | undefined {
  if (username === `${NODE_USER}${nodeName}`) return undefined;
  const whose = username.startsWith(NODE_USER)
    ? `are those of node ${JSON.stringify(username.slice(NODE_USER.length))}`
    : 'are not those of a node';
  return (
    `the credentials in the kubeconfig ${whose} (user ${JSON.stringify(username)}), but this node's name is ` +
    `${JSON.stringify(nodeName)}: give it its former name back (--hostname-override) or credentials of its own`
  );
}
