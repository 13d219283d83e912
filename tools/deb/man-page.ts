/** The manual page kubelet(8), made from the table of flags, so that it can't tell anything else than `--help`. */
import type { Flag } from '../../src/config/flags/flag.ts';
import { flagGroups } from '../../src/config/flags/flag.ts';
import { shownDefault } from '../../src/config/flags/help.ts';
import type { Configurable } from '../../src/config/flags/target.ts';

export function renderManPage(table: readonly Flag[], defaults: Configurable, version: string): string {
  const lines = [
    `.TH KUBELET 8 "" "kubelet-ts ${escapeRoff(version)}" "Kubernetes"`,
    '.SH NAME',
    'kubelet \\- runs the pods of a Kubernetes node',
    '.SH SYNOPSIS',
    '.B kubelet',
    '.RI [ flags ]',
    '.SH DESCRIPTION',
    'The kubelet runs on every node: it takes pods from the API server, from files and from a URL, has the container runtime run them, and reports how they do.',
    '.PP',
    'Most settings belong in the configuration file. Flags marked * still work, and win over the file, but warn.',
    '.SH OPTIONS',
  ];
  for (const group of flagGroups) {
    lines.push(`.SS ${escapeRoff(group)}`);
    for (const flag of table.filter((one) => one.group === group)) lines.push(...renderFlag(flag, defaults));
  }
  lines.push(...FILES);
  return `${lines.join('\n')}\n`;
}

function renderFlag(flag: Flag, defaults: Configurable): readonly string[] {
  const short = flag.short === undefined ? '' : `\\-${flag.short}, `;
  const mark = flag.deprecated === undefined ? '' : ' *';
  const label = flag.label === '' ? '' : ` \\fI${escapeRoff(flag.label)}\\fR`;
  const shown = shownDefault(flag, defaults);
  const suffix = shown === undefined ? '' : ` [${shown}]`;
  return ['.TP', `\\fB${short}\\-\\-${escapeRoff(flag.name)}\\fR${label}${mark}`, text(`${flag.help}${suffix}`)];
}

const FILES: readonly string[] = [
  '.SH FILES',
  '.TP',
  '.I /etc/kubernetes/kubelet.yaml',
  'The configuration that the unit kubelet.service reads: that of a node of its own, until it is changed or a drop\\-in names another one.',
  '.TP',
  '.I /etc/default/kubelet',
  'KUBELET_EXTRA_ARGS: more flags for the unit.',
  '.TP',
  '.I /usr/share/kubelet\\-ts/10\\-kubeadm.conf',
  'The drop\\-in of the unit for a node that kubeadm manages. The package kubeadm brings its own.',
  '.TP',
  '.I /var/lib/kubelet',
  'Volumes, plugins, certificates and the state of the kubelet.',
  '.SH SEE ALSO',
  '.BR systemctl (1)',
];

/** A line that begins with a dot or a quote would be a command. */
const text = (line: string): string => escapeRoff(line).replace(/^([.'])/, '\\&$1');

function escapeRoff(plain: string): string {
  const escaped = plain.replaceAll('\\', '\\e').replaceAll('-', '\\-');
  return escaped.replace(
    /[^ -~]/gu,
    (character) => `\\[u${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
  );
}
