/**
 * Which files open, read, list or change files by path. A container can put links, pipes, devices and files of any size where it may
 * write: what it can reach is opened by `host/guarded-files.ts` alone. Everything else that touches a path is listed here with
 * the reason why no container can write there.
 */
import { isTestFile } from './test-support.ts';

const NODE = 'configuration of the node, written by its administrator';
const KERNEL = "the kernel's own files";
const OWN = "the kubelet's own files, in directories that are mounted into no container";
const READ_ONLY = 'volumes that containers get read-only; only the kubelet writes there';
const DESCRIPTOR = 'opens by descriptor, without links and across no mount';

export const FILE_ACCESS: Readonly<Record<string, string>> = {
  'act/pod-directories.ts': `creates new files only ("wx"), and lists the directories of pods: ${OWN}`,
  'certificates/bootstrap.ts': OWN,
  'certificates/store.ts': OWN,
  'devices/checkpoint-file.ts': OWN,
  'devices/registration-server.ts': `lists the directory of device plugins and removes sockets there, opens nothing: ${OWN}`,
  'host/atomic-file.ts': OWN,
  'host/capacity.ts': KERNEL,
  'host/cgroup-mounts.ts': KERNEL,
  'host/cgroups.ts': KERNEL,
  'host/disk.ts': 'counts the files of log directories by lstat, opens none of them',
  'host/file-job.ts': 'creates what a hostPath volume of type FileOrCreate asks for, never over something ("wx")',
  'host/guarded-files.ts': 'the guarded opener itself',
  'host/identity.ts': KERNEL,
  'host/kernel-files.ts': KERNEL,
  'host/kernel-log.ts': KERNEL,
  'host/kernel-settings.ts': KERNEL,
  'host/lock-file.ts': NODE,
  'host/machine.ts': KERNEL,
  'host/page-files.ts': 'files of the program itself',
  'host/machine-devices.ts': KERNEL,
  'host/machine-info.ts': KERNEL,
  'host/machine-topology.ts': KERNEL,
  'host/memory-events.ts': KERNEL,
  'host/mount-table.ts': KERNEL,
  'host/network.ts': KERNEL,
  'host/output-target.ts': "the process's own standard streams",
  'host/own-process.ts': KERNEL,
  'host/processes.ts': KERNEL,
  'host/program-pages.ts': KERNEL,
  'host/runtime-facts.ts': KERNEL,
  'host/stall-events.ts': KERNEL,
  'host/sub-path.ts': `${DESCRIPTOR}; mount points are ${OWN}`,
  'host/text-file.ts': NODE,
  'host/tree-own.ts': DESCRIPTOR,
  'host/tree-remove.ts': DESCRIPTOR,
  'host/tree-walk.ts': DESCRIPTOR,
  'images/credential-plugins.ts': NODE,
  'images/docker-config-files.ts': NODE,
  'images/pull-records.ts': OWN,
  'kube/credentials.ts': NODE,
  'kube/kubeconfig.ts': NODE,
  'kube/pem-files.ts': NODE,
  'local-api/explain-command.ts': OWN,
  'local-api/journal.ts': OWN,
  'local-api/kubeconfig.ts': OWN,
  'local-api/signing-key.ts': OWN,
  'main.ts': `${KERNEL}; ${NODE}`,
  'network/pod-network.ts': NODE,
  'oom/state-file.ts': OWN,
  'plugins/plugins.ts':
    'lists the directories of plugins, which may be mounted into containers of plugins; follows no link and opens nothing',
  'pods/adoption.ts': OWN,
  'pods/allocations.ts': OWN,
  'pods/endings.ts': OWN,
  'probes/verdict-files.ts': OWN,
  'resources/state-file.ts': OWN,
  'runtime/logs/logs.ts': 'removes links of /var/log/containers, which are not followed',
  'runtime/user-namespaces.ts': OWN,
  'server/pod-resources/pod-resources.ts': `removes the old socket, opens nothing: ${OWN}`,
  'server/auth/node-token.ts': OWN,
  'server/tls/key-pairs.ts': NODE,
  'shutdown/drain-command.ts': OWN,
  'shutdown/store.ts': OWN,
  'sources/found-files.ts': NODE,
  'sources/last-good.ts': OWN,
  'sources/stable-file.ts': NODE,
  'volumes/atomic-state.ts': READ_ONLY,
  'volumes/atomic-steps.ts': READ_ONLY,
  'volumes/disk.ts': OWN,
  'volumes/directories.ts': OWN,
  'volumes/kinds/empty-dir.ts': 'the directory of a volume before a container has it',
  'volumes/kinds/object-volume.ts': READ_ONLY,
};

/** Functions of `node:fs` that open, list or follow what a path leads to. */
const BY_PATH =
  /^(?:open|opendir|openAsBlob|readFile|writeFile|appendFile|readdir|truncate|cp|copyFile|chmod|chown|rm|utimes|watch|watchFile|glob|createReadStream|createWriteStream)(?:Sync)?$/;

const NAMED = /^\s*import\s+(type\s+)?\{([^}]*)\}\s*from\s*['"]node:fs(?:\/promises)?['"]/gm;
const ANY_IMPORT = /\bfrom\s*['"]node:fs(?:\/promises)?['"]|\bimport\(\s*['"]node:fs|\brequire\(\s*['"](?:node:)?fs/g;

/** The functions of `node:fs` by which a file opens paths. */
export function pathFunctionsOf(code: string): readonly string[] {
  const names = [...code.matchAll(NAMED)]
    .filter(([, typeOnly]) => typeOnly === undefined)
    .flatMap(([, , list]) => namesOf(list ?? ''));
  return names.filter((name) => BY_PATH.test(name));
}

function namesOf(list: string): readonly string[] {
  const names = list.split(',').map((name) => name.trim());
  return names.filter((name) => name !== '' && !name.startsWith('type ')).map((name) => name.split(/\s/)[0] ?? '');
}

export function judgeFileAccess(
  file: string,
  code: string,
  reasons: Readonly<Record<string, string>> = FILE_ACCESS,
): readonly string[] {
  if (isTestFile(file)) return [];
  const problems: string[] = [];
  if ([...code.matchAll(ANY_IMPORT)].length !== [...code.matchAll(NAMED)].length) {
    problems.push(`${file}: imports node:fs as a whole; name the functions`);
  }
  const functions = pathFunctionsOf(code);
  const isListed = reasons[file] !== undefined;
  if (functions.length > 0 && !isListed) {
    const what = functions.join(', ');
    problems.push(
      `${file}: uses ${what} of node:fs; what a container can write is opened by host/guarded-files.ts, else list the file with a reason in tools/imports/file-access.ts`,
    );
  }
  if (functions.length === 0 && isListed)
    problems.push(`${file}: is listed in tools/imports/file-access.ts and opens nothing`);
  return problems;
}
