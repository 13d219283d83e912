/** Runs one set of upstream's node suite, as it is, in a world of its own with systemd. */
import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createSystemClock } from '../../../src/base/clock.ts';
import { createCriClient } from '../../../src/runtime/cri/client.ts';
import { cacheRoot } from '../../../tools/machine/cache.ts';
import { readLayout, writeLayout } from '../../../tools/machine/oci/layout.ts';
import { ensurePackages } from '../../../tools/machine/packages.ts';
import { createBinaries } from '../../lab/binaries/binaries.ts';
import type { Progress } from '../../lab/binaries/progress.ts';
import { createSupplies } from '../../lab/supplies.ts';
import { createSystem, SYSTEM_PACKAGES, type System } from '../../lab/system/system.ts';
import { createWorlds, labPlace } from '../../lab/worlds.ts';
import { watchSpecs } from '../run.ts';
import { readReport, type SpecResult } from '../verdict.ts';
import { DIGEST_CONTENT, DIGEST_NAME, NODE_IMAGE_PACKAGES, nodeImages } from './images.ts';
import type { SpecSet } from './sets.ts';
import type { NodeSettings } from './settings.ts';
import { RUNTIME_SOCKET, SUITE_UNIT, suiteFiles, suiteScript } from './units.ts';

export interface NodeSuite {
  /** `directory` gets the logs of everything and the results. */
  run(set: SpecSet, directory: string): Promise<readonly SpecResult[]>;
}

const REPORT = 'report.json';
const NODE_NAME = 'node';
const REPO_ROOT = resolve(import.meta.dirname, '..', '..', '..');
/** systemd and the runtime take an instance for every watch; 128 for all of a machine's processes is what kernels come with. */
const INOTIFY_INSTANCES = 8192;
const INOTIFY_FILE = '/proc/sys/fs/inotify/max_user_instances';

export async function createNodeSuite(given: {
  readonly env: NodeJS.ProcessEnv;
  readonly settings: NodeSettings;
  readonly progress: Progress;
}): Promise<NodeSuite> {
  const { env, settings, progress } = given;
  const never = new AbortController().signal;
  const supplies = createSupplies(env);
  const programs = await createBinaries({ env, log: progress }).ensure(
    [
      ...(['ginkgo', 'e2e_node.test', 'sample-device-plugin', 'kubectl', 'agnhost'] as const),
      ...(['nginx', 'busybox', 'catatonit'] as const),
    ],
    never,
  );
  await ensurePackages([...SYSTEM_PACKAGES, ...NODE_IMAGE_PACKAGES], progress.line, { env });
  const kubelet =
    settings.kubelet === 'reference' ? await supplies.referenceKubelet() : join(REPO_ROOT, 'dist', 'kubelet');
  const runtime = await supplies.runtime('containerd-2.4');
  progress.status('making images');
  const cache = join(cacheRoot(env), 'node-suite');
  const images = join(cache, 'images');
  const sampleDevicePlugin = programs['sample-device-plugin'];
  const { agnhost, nginx } = programs;
  await writeLayout(images, await nodeImages({ agnhost, nginx, sampleDevicePlugin }, join(cache, 'keys')));
  await raiseInotifyLimit(progress);
  const worlds = createWorlds(labPlace(env));

  return {
    run: async (set, directory) => {
      await worlds.sweepOnce();
      progress.status(`${set.name}: starting a system`);
      const binDirectory = join(directory, 'bin');
      await writePrograms(binDirectory, { kubelet, kubectl: programs.kubectl });
      const script = join(directory, 'suite.sh');
      await using system = await worlds.make(
        (id) =>
          createSystem({
            place: labPlace(env),
            id,
            hostName: NODE_NAME,
            path: [binDirectory],
            units: ['dbus.service', 'systemd-logind.service', 'containerd.service', 'registry.service'],
            etc: suiteFiles(runtime, {
              output: directory,
              images,
              suiteScript: script,
              node: process.execPath,
              registryProgram: join(import.meta.dirname, 'registry-main.ts'),
            }),
          }),
        async () => undefined,
      );
      await writeFile(
        script,
        suiteScript({
          ginkgo: programs.ginkgo,
          suite: programs['e2e_node.test'],
          set,
          flags: settings.flags,
          binDirectory,
          workDirectory: join(system.disk, 'node-e2e-20260101T000000'),
          output: directory,
          report: REPORT,
          nodeName: NODE_NAME,
        }),
      );
      progress.status(`${set.name}: pulling images`);
      await pullImages(system, runtime.ctr, images);
      return await runSuite(system, { set, directory, progress });
    },
  };
}

async function runSuite(
  system: System,
  { set, directory, progress }: { set: SpecSet; directory: string; progress: Progress },
): Promise<readonly SpecResult[]> {
  const log = join(directory, 'e2e.log');
  await writeFile(log, '');
  // Ends with the suite; the exit code says no more than the report does.
  const ended = system.exec(['systemctl', 'start', SUITE_UNIT]);
  await watchSpecs({ logFile: log, ended, label: `${set.name}: `, progress });
  const journal = await system.exec(['journalctl', '--no-pager']);
  await writeFile(join(directory, 'journal.log'), journal.stdout);
  const report = await readFile(join(directory, REPORT), 'utf8').catch((cause: unknown) => {
    throw new Error(`the suite left no report; its log: ${log}`, { cause });
  });
  const results = readReport(report);
  await writeFile(join(directory, 'results.json'), JSON.stringify(results, undefined, 2));
  await rm(join(directory, REPORT)); // most of it is about specs that were not chosen
  return results;
}

/** The suite looks for `kubelet` in one directory, and calls sudo, which a root without it does not need. */
async function writePrograms(directory: string, programs: { kubelet: string; kubectl: string }): Promise<void> {
  await mkdir(directory, { recursive: true });
  const scripts = { sudo: 'exec "$@"', kubelet: `exec ${programs.kubelet} "$@"` };
  for (const [name, line] of Object.entries(scripts)) {
    await writeFile(join(directory, name), `#!/bin/sh\n${line}\n`);
    await chmod(join(directory, name), 0o755);
  }
  await symlink(programs.kubectl, join(directory, 'kubectl'));
}

/** By way of CRI, as the suite itself would do it: what is pulled so has the names that a kubelet sees. */
async function pullImages(system: System, ctr: string, layout: string): Promise<void> {
  const never = new AbortController().signal;
  const cri = createCriClient({ endpoint: `unix://${system.root}${RUNTIME_SOCKET}`, clock: createSystemClock() });
  try {
    for (const image of (await readLayout(layout)).keys()) await cri.images.pull({ image: { image } }, never);
  } finally {
    await cri.close();
  }
  for (const argv of [
    ['tag', '--skip-reference-check', DIGEST_CONTENT, DIGEST_NAME],
    ['label', DIGEST_NAME, 'io.cri-containerd.pinned=pinned'],
  ]) {
    const { code, stderr } = await system.exec([ctr, '--namespace', 'k8s.io', 'images', ...argv]);
    if (code !== 0) throw new Error(`ctr images ${argv.join(' ')}: exit code ${code}: ${stderr.trim()}`);
  }
}

/** Without it containerd comes up on a busy machine, but without its CRI service. The kernel has no such setting for a world alone. */
async function raiseInotifyLimit(progress: Progress): Promise<void> {
  const limit = Number(await readFile(INOTIFY_FILE, 'utf8'));
  if (limit >= INOTIFY_INSTANCES) return;
  progress.line(`fs.inotify.max_user_instances of this machine: ${limit} → ${INOTIFY_INSTANCES}`);
  await writeFile(INOTIFY_FILE, String(INOTIFY_INSTANCES));
}
