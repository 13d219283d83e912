/** Who this machine is, from the files in which its firmware, its kernel and its system say so. */
import { readFileSync } from 'node:fs';
import { arch, hostname, release } from 'node:os';
import { swapBytes } from './machine.ts';

/** The first of these files that can be read, without its line end; empty where none can. */
export function readFirst(files: readonly string[]): string {
  for (const file of files) {
    const text = readIfThere(file);
    if (text !== undefined) return text.replaceAll('\0', '').trim();
  }
  return '';
}

const SYSTEM_UUID_FILES = [
  '/sys/class/dmi/id/product_uuid',
  '/proc/device-tree/system-id',
  '/proc/device-tree/vm,uuid',
  '/etc/machine-id',
];

/** What the firmware calls this machine; the installed system's id where it says nothing. */
export function systemUuid(files: readonly string[] = SYSTEM_UUID_FILES): string {
  return readFirst(files);
}

const OS_RELEASE_FILES = ['/etc/os-release', '/usr/lib/os-release'];

/** The system's name for people, such as `Debian GNU/Linux 12 (bookworm)`. */
export function osImage(files: readonly string[] = OS_RELEASE_FILES): string {
  const text = files.map(readIfThere).find((each) => each !== undefined);
  if (text === undefined) return 'Unknown';
  return /^PRETTY_NAME=(.*)$/m.exec(text)?.[1]?.replace(/^"+|"+$/g, '') ?? 'Linux';
}

export function kernelVersion(): string {
  return release();
}

/** Names of processors as the world of containers has them. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', mipsel: 'mipsle' };

export function architecture(): string {
  return ARCHITECTURES[arch()] ?? arch();
}

export function hostName(): string {
  return hostname();
}

export interface MachineIdentityFiles {
  /** The first that can be read counts. */
  readonly machineId: readonly string[];
  readonly bootId: readonly string[];
}

/** None of this changes while a kubelet runs. */
export interface MachineIdentity {
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly architecture: string;
  /** Bytes. */
  readonly swap: number;
}

export function readMachineIdentity({ machineId, bootId }: MachineIdentityFiles): MachineIdentity {
  return {
    machineId: readFirst(machineId),
    systemUuid: systemUuid(),
    bootId: readFirst(bootId),
    kernelVersion: kernelVersion(),
    osImage: osImage(),
    architecture: architecture(),
    swap: Number(swapBytes()),
  };
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // most machines have some of these files, none has all
  }
}
