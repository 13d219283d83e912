/** Disks and network devices of the machine, and the cloud that its firmware names. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MachineCloud, MachineDisk, NetworkDevice } from '../model/machine.ts';

const SECTOR_BYTES = 512;
/** No disks: files as devices, memory, disc drives. */
const NO_DISK = /^(?:loop|ram|sr)/;
/** What carries the traffic of other namespaces, or none at all. */
const NO_DEVICE = /^(?:lo|veth|docker|nerdctl)/;

export function readDisks(directory = '/sys/block'): readonly MachineDisk[] {
  return namesIn(directory).flatMap((name) => {
    const of = (file: string) => textOf(join(directory, name, file));
    const [, major, minor] = /^(\d+):(\d+)$/.exec(of('dev')) ?? [];
    if (NO_DISK.test(name) || of('hidden') === '1' || major === undefined) return [];
    const scheduler = /\[(.*)\]/.exec(of('queue/scheduler'))?.[1] ?? 'none';
    return [{ name, major: Number(major), minor: Number(minor), bytes: Number(of('size')) * SECTOR_BYTES, scheduler }];
  });
}

export function readNetworkDevices(directory = '/sys/class/net'): readonly NetworkDevice[] {
  return namesIn(directory).flatMap((name) => {
    const of = (file: string) => textOf(join(directory, name, file));
    if (NO_DEVICE.test(name) || of('mtu') === '') return [];
    // -1, or no answer at all, where the device has no speed of its own
    const speed = Number(of('speed') || 0);
    return [{ name, macAddress: of('address'), speed, mtu: Number(of('mtu')) }];
  });
}

const CLOUDS: readonly (readonly [file: string, text: RegExp, provider: string])[] = [
  ['product_name', /^Google/, 'GCE'],
  ['sys_vendor', /Amazon EC2/, 'AWS'],
  ['bios_version', /amazon/i, 'AWS'],
  ['sys_vendor', /Microsoft Corporation/, 'Azure'],
];

/** The instance itself is known to the cloud's metadata server only, which a kubelet does not ask. */
export function readCloud(directory = '/sys/class/dmi/id'): MachineCloud {
  const found = CLOUDS.find(([file, text]) => text.test(textOf(join(directory, file))));
  return { provider: found?.[2] ?? 'Unknown', instanceType: 'Unknown', instanceId: 'None' };
}

const namesIn = (directory: string) => (existsSync(directory) ? readdirSync(directory).toSorted() : []);

/** Empty where there is no such file, or where the device does not answer. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return ''; // devices come and go, and some of their files can't be read while they are down
  }
}
