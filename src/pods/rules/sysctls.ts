/**
 * Which sysctls a pod may set: those that the kernel keeps in a namespace of the pod and that affect no other pod, and those that the
 * configuration allows besides.
 */
import type { Pod } from '../../api/pod.ts';

export interface KernelVersion {
  readonly major: number;
  readonly minor: number;
}

/** Sysctls that are always allowed, each with the first kernel that keeps it in a namespace. */
const SAFE: readonly (readonly [string, number, number])[] = [
  ['kernel.shm_rmid_forced', 0, 0],
  ['net.ipv4.ip_local_port_range', 0, 0],
  ['net.ipv4.tcp_syncookies', 0, 0],
  ['net.ipv4.ping_group_range', 0, 0],
  ['net.ipv4.ip_unprivileged_port_start', 0, 0],
  ['net.ipv4.ip_local_reserved_ports', 3, 16],
  ['net.ipv4.tcp_keepalive_time', 4, 5],
  ['net.ipv4.tcp_keepalive_intvl', 4, 5],
  ['net.ipv4.tcp_keepalive_probes', 4, 5],
  ['net.ipv4.tcp_fin_timeout', 4, 6],
  ['net.ipv4.tcp_rmem', 4, 15],
  ['net.ipv4.tcp_wmem', 4, 15],
];

/** The name of the namespace in messages. */
type Namespace = 'IPC' | 'Net';

const IPC_NAMES = new Set([
  'kernel.sem',
  'kernel.shmall',
  'kernel.shmmax',
  'kernel.shmmni',
  'kernel.shm_rmid_forced',
  'kernel.shm',
  'kernel.msgmax',
  'kernel.msgmnb',
  'kernel.msgmni',
  'kernel.msg',
]);

export function safeSysctls({ major, minor }: KernelVersion): readonly string[] {
  const isKnown = (sinceMajor: number, sinceMinor: number) =>
    major > sinceMajor || (major === sinceMajor && minor >= sinceMinor);
  return SAFE.filter(([, sinceMajor, sinceMinor]) => isKnown(sinceMajor, sinceMinor)).map(([name]) => name);
}

/** `6.1.0-18-amd64` */
export function parseKernelVersion(release: string): KernelVersion {
  const [, major = '0', minor = '0'] = /^(\d+)\.(\d+)/.exec(release) ?? [];
  return { major: Number(major), minor: Number(minor) };
}

/** Why the pod may not set one of its sysctls; undefined when it may. `allowed` are names, and prefixes that end in `*`. */
export function forbiddenSysctl(pod: Pod, allowed: readonly string[]): string | undefined {
  for (const { name } of pod.spec.securityContext?.sysctls ?? []) {
    const fault = sysctlFault(normalizeSysctl(name), pod, allowed.map(normalizeSysctl));
    if (fault !== undefined) return `forbidden sysctl: ${fault}`;
  }
  return undefined;
}

function sysctlFault(name: string, { spec }: Pod, allowed: readonly string[]): string | undefined {
  const rule = allowed.find((one) => one === name) ?? allowed.find((one) => isPrefix(one, name));
  const quoted = JSON.stringify(name);
  if (rule === undefined) return `${quoted} not allowlisted`;
  const namespace = namespaceOf(rule.replace(/\*.*$/, ''));
  const shared = namespace === 'IPC' ? spec.hostIPC === true : namespace === 'Net' && spec.hostNetwork === true;
  return shared ? `${quoted} not allowed with host ${namespace} enabled` : undefined;
}

function isPrefix(rule: string, name: string): boolean {
  const star = rule.indexOf('*');
  return star >= 0 && name.startsWith(rule.slice(0, star));
}

function namespaceOf(name: string): Namespace | undefined {
  if (IPC_NAMES.has(name) || name.startsWith('fs.mqueue.')) return 'IPC';
  return name.startsWith('net.') ? 'Net' : undefined;
}

/** A name with slashes between its parts may have dots in them. Names are compared in the form with dots between the parts. */
export function normalizeSysctl(name: string): string {
  const first = /[./]/.exec(name)?.[0];
  return first === '/' ? name.replace(/[./]/g, (separator) => (separator === '/' ? '.' : '/')) : name;
}
