/** The whole machine as one value: read at the start of the kubelet. */
import { existsSync, readFileSync } from 'node:fs';
import type { Machine } from '../model/machine.ts';
import { type MachineIdentityFiles, readMachineIdentity } from './identity.ts';
import { memoryBytes, onlineCpus } from './machine.ts';
import { readCloud, readDisks, readNetworkDevices } from './machine-devices.ts';
import { readHugePages, readMemoryNodes } from './machine-topology.ts';

const FREQUENCY_FILE = '/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq';

export function readMachine(identityFiles: MachineIdentityFiles): Machine {
  const { swap, ...identity } = readMachineIdentity(identityFiles);
  const cpuInfo = readFileSync('/proc/cpuinfo', 'utf8');
  return {
    ...identity,
    cpuVendor: parseVendor(cpuInfo),
    cpuKilohertz: existsSync(FREQUENCY_FILE) ? Number(readFileSync(FREQUENCY_FILE, 'utf8')) : parseKilohertz(cpuInfo),
    memoryBytes: Number(memoryBytes()),
    swapBytes: swap,
    hugePages: readHugePages(),
    memoryNodes: readMemoryNodes(onlineCpus()),
    disks: readDisks(),
    networkDevices: readNetworkDevices(),
    cloud: readCloud(),
  };
}

export function parseVendor(cpuInfo: string): string {
  return /^vendor_id\s*:\s*(\w+)/m.exec(cpuInfo)?.[1] ?? '';
}

/** Processors of some architectures do not say. */
export function parseKilohertz(cpuInfo: string): number {
  const megahertz = /^(?:cpu MHz|CPU MHz|clock)\s*:\s*(\d+\.\d+)(?:MHz)?$/m.exec(cpuInfo)?.[1];
  return Math.floor(Number(megahertz ?? 0) * 1000);
}
