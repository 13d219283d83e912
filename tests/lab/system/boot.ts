/** How a world with systemd comes up: what is mounted before systemd takes over, and which of Debian's units stay away. */
import type { CgroupHierarchies } from '../../../tools/machine/cgroup-trees.ts';
import { FURNISH_NETWORK, mountCgroups, NODE_ADDRESS } from '../../../tools/machine/world.ts';

export const TARGET = 'lab.target';
/** Written to the system's log when every unit that was asked for is up. */
export const READY = 'system is ready';

/**
 * Runs as process 1 of the new namespaces; $0 is the world's directory. Containers get their files on the system's own disk, since an
 * overlay can't be the upper layer of another. `covered` are directories whose changes stay in the world, beside /etc and /var/lib. Mounts are shared within the world, because pods may ask for mounts that propagate.
 */
export const bootScript = (hierarchies: CgroupHierarchies, hostName: string, covered: readonly string[]): string => `
mount -t proc proc /proc
umount --recursive --lazy /sys/fs/cgroup
mount -t sysfs sysfs /sys
${mountCgroups(hierarchies).join('\n')}
disk=$0/disk
mount -o loop "$disk.img" "$disk"
cover() {
  mkdir -p "$disk/$1/upper" "$disk/$1/work"
  mount -t overlay overlay -o "lowerdir=$2,upperdir=$disk/$1/upper,workdir=$disk/$1/work" "$2"
}
place() {
  mkdir -p "$disk/$1" "$2"
  mount --bind "$disk/$1" "$2"
}
cover etc /etc
cover var-lib /var/lib
${covered.map((directory) => `cover ${directory.slice(1).replaceAll('/', '-')} ${directory}`).join('\n')}
place kubelet /var/lib/kubelet
place containerd /var/lib/containerd
place log /var/log
place tmp /tmp
chmod 1777 /tmp
mkdir -p /var/log/pods /var/log/containers
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/lock /run/netns
mount --make-rshared /
hostname ${hostName}
printf '127.0.0.1 localhost\\n${NODE_ADDRESS} %s\\n' ${hostName} > /etc/hosts
echo nameserver 127.0.0.1 > /etc/resolv.conf
${FURNISH_NETWORK}
sysctl -q -w net.ipv4.ip_forward=1
rm -rf /etc/systemd/system/*.wants /etc/cni/net.d /etc/containerd /etc/fstab
cp -R "$0/etc/." /etc/
exec env -i container=lab "PATH=$PATH" /lib/systemd/systemd --system --unit=${TARGET} --log-target=null --show-status=false`;

/** What Debian's targets pull in that a node in a world needs. The rest is for real hardware, or would change the machine's own settings. */
const KEPT_UNITS = new Set([
  'dbus.service',
  'dbus.socket',
  'systemd-journald-dev-log.socket',
  'systemd-journald.service',
  'systemd-journald.socket',
  'systemd-logind.service',
]);
/** Pulled in by units themselves, not by a target. */
const MORE_MASKED = ['modprobe@.service', 'systemd-udevd.service', 'tmp.mount'];

/** The units to mask, out of what the `.wants` directories of systemd's own targets hold. */
export function unitsToMask(pulledIn: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const units = new Set([...pulledIn.values()].flat().filter((unit) => !KEPT_UNITS.has(unit)));
  return [...units, ...MORE_MASKED].sort();
}

export function targetUnit(units: readonly string[]): string {
  return `[Unit]
Description=A node of the lab
Requires=basic.target lab-ready.service
After=basic.target
Wants=${units.join(' ')}
`;
}

/** One that fails is seen: the system then never becomes ready. */
export function readyUnit(units: readonly string[], logFile: string): string {
  return `[Unit]
Requires=${units.join(' ')}
After=${units.join(' ')}

[Service]
Type=oneshot
ExecStart=/bin/echo ${READY}
StandardOutput=append:${logFile}
`;
}
