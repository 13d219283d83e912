/** The virtual machine: what it is made of, as qemu's command line. */
import { join } from 'node:path';
import type { BaseImage } from './base-image.ts';

export const QEMU_PACKAGES = ['qemu-system-x86', 'e2fsprogs', 'util-linux'] as const;

export interface MachineSpec {
  readonly base: BaseImage;
  readonly filesDisk: string;
  readonly agentSocket: string;
  readonly logsDirectory: string;
  readonly memoryMiB: number;
  readonly cpus: number;
}

export const consoleLogOf = (logsDirectory: string): string => join(logsDirectory, 'console.log');
export const journalLogOf = (logsDirectory: string): string => join(logsDirectory, 'journal.log');

const KERNEL_OPTIONS = [
  ...['root=/dev/vda', 'rw', 'console=ttyS0', 'psi=1'],
  // A guest that crashed starts anew, which is noticed at once, rather than hang until a deadline.
  'panic=-1',
  // Nothing is secret in there, and the guards cost a lot under emulation.
  'mitigations=off',
  'systemd.show_status=false',
] as const;

/** Plain emulation: it works wherever the tests run. No network card at all; what the guest writes to its disk is forgotten. */
export function qemuCommand(spec: MachineSpec): string[] {
  const { base } = spec;
  return [
    'qemu-system-x86_64',
    ...['-no-user-config', '-nodefaults', '-display', 'none', '-nic', 'none'],
    ...['-machine', 'q35', '-accel', 'tcg,thread=multi,tb-size=512', '-cpu', 'max'],
    ...['-smp', String(spec.cpus), '-m', String(spec.memoryMiB)],
    ...['-kernel', base.kernel, '-initrd', base.initrd, '-append', KERNEL_OPTIONS.join(' ')],
    ...['-drive', `if=none,id=root,format=raw,cache=unsafe,snapshot=on,file=${doubled(base.disk)}`],
    ...['-device', 'virtio-blk-pci,drive=root'],
    ...['-drive', `if=none,id=files,format=raw,readonly=on,file=${doubled(spec.filesDisk)}`],
    ...['-device', 'virtio-blk-pci,drive=files'],
    ...['-device', 'virtio-rng-pci'],
    ...['-chardev', `file,id=console,path=${doubled(consoleLogOf(spec.logsDirectory))}`, '-serial', 'chardev:console'],
    ...['-device', 'virtio-serial-pci'],
    ...['-chardev', `file,id=journal,path=${doubled(journalLogOf(spec.logsDirectory))}`],
    ...['-device', 'virtconsole,chardev=journal'],
    ...['-chardev', `socket,id=agent,path=${doubled(spec.agentSocket)}`],
    ...['-device', 'virtserialport,chardev=agent,name=lab.agent'],
  ];
}

/** A comma ends a value in qemu's options, two are one. */
const doubled = (path: string): string => path.replaceAll(',', ',,');
