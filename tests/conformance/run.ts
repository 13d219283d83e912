/** Runs the upstream e2e suite, as it is, against a cluster of the lab. */
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { createSystemClock } from '../../src/base/clock.ts';
import { cacheRoot } from '../../tools/machine/cache.ts';
import type { Image } from '../../tools/machine/oci/image.ts';
import { ensurePackages } from '../../tools/machine/packages.ts';
import { createBinaries } from '../lab/binaries/binaries.ts';
import { formatElapsed, type Progress, ticking } from '../lab/binaries/progress.ts';
import type { Cluster } from '../lab/cluster/cluster.ts';
import { prune } from '../lab/kept-logs.ts';
import type { Lab } from '../lab/lab.ts';
import { E2E_IMAGE_PACKAGES, e2eImages } from './images.ts';
import type { Settings } from './settings.ts';
import { readReport, type SpecResult } from './verdict.ts';

export interface RunOptions {
  readonly lab: Lab;
  readonly env: NodeJS.ProcessEnv;
  readonly settings: Settings;
  readonly progress: Progress;
  readonly test?: TestContext;
}

export interface Run {
  readonly results: readonly SpecResult[];
  /** Ginkgo's own words, and the results; kept. */
  readonly directory: string;
}

const REPORT = 'report.json';
const RESULTS = 'results.json';
const LOG = 'e2e.log';
/** Far more than the default choice of specs takes; an own FOCUS may take hours. */
const SUITE_TIMEOUT = '6h';

export async function runConformance(options: RunOptions): Promise<Run> {
  const { env, progress, settings } = options;
  const binaries = createBinaries({ env, log: progress });
  const never = new AbortController().signal;
  const paths = await binaries.ensure(['ginkgo', 'e2e.test', 'kubectl', 'agnhost', 'nginx', 'busybox'], never);
  await ensurePackages(E2E_IMAGE_PACKAGES, progress.line, { env });
  const images = await e2eImages({ agnhost: paths.agnhost, nginx: paths.nginx });

  progress.status('starting a cluster');
  await using cluster = await options.lab.cluster({
    kubelet: settings.kubelet,
    images,
    ...(options.test === undefined ? {} : { test: options.test }),
  });
  await serveImages(options.lab, cluster, images);
  const directory = await makeDirectory(env);
  const part = await cluster.node.start({
    name: 'e2e',
    argv: ginkgoCommand({ settings, directory, programs: paths, kubeconfig: cluster.adminKubeconfig }),
    env: { HOME: directory },
    cwd: directory,
  });
  await watchSpecs({ logFile: part.logFile, ended: part.exited, progress });
  const log = await readFile(part.logFile, 'utf8');
  await writeFile(join(directory, LOG), log);
  const report = await readFile(join(directory, REPORT), 'utf8').catch((cause: unknown) => {
    throw new Error(`the suite left no report; the end of ${join(directory, LOG)}:\n${part.logTail(30)}`, { cause });
  });
  const results = readReport(report);
  await writeFile(join(directory, RESULTS), JSON.stringify(results, undefined, 2));
  await rm(join(directory, REPORT)); // 9 MB, most of it about specs that were not chosen
  return { results, directory };
}

/** A new directory for what a run leaves; the oldest of its kind go. */
export async function makeDirectory(env: NodeJS.ProcessEnv, kind = 'conformance'): Promise<string> {
  const name = new Date().toISOString().replaceAll(/[:.]/g, '-');
  const directory = join(cacheRoot(env), kind, name);
  await mkdir(directory, { recursive: true });
  await prune(dirname(directory));
  return directory;
}

/** A registry under the suite's name for it, since a spec may insist on pulling what the node has already. */
async function serveImages(lab: Lab, cluster: Cluster, images: readonly Image[]): Promise<void> {
  const registry = await lab.registry(cluster.node);
  const host = 'registry.k8s.io';
  const mirror = join(cluster.node.containerd.registriesDirectory, host);
  await mkdir(mirror, { recursive: true });
  await writeFile(join(mirror, 'hosts.toml'), `server = "http://${registry.host}"\n`);
  for (const image of images) {
    for (const name of image.names) await registry.push(image, name.slice(`${host}/`.length));
  }
}

function ginkgoCommand(given: {
  settings: Settings;
  directory: string;
  programs: Readonly<Record<'ginkgo' | 'e2e.test' | 'kubectl', string>>;
  kubeconfig: string;
}): readonly string[] {
  const { settings, directory, programs } = given;
  return [
    programs.ginkgo,
    'run',
    `--procs=${settings.procs}`,
    `--focus=${settings.focus}`,
    `--skip=${settings.skip}`,
    `--timeout=${SUITE_TIMEOUT}`,
    '--no-color',
    '--force-newlines', // a line for each finished spec, also where it passed
    '--silence-skips',
    `--output-dir=${directory}`,
    `--json-report=${REPORT}`,
    programs['e2e.test'],
    '--',
    '--provider=skeleton',
    `--kubeconfig=${given.kubeconfig}`,
    `--kubectl-path=${programs.kubectl}`,
    '--num-nodes=1',
    '--allowed-not-ready-nodes=0',
    '--disable-log-dump=true',
  ];
}

/** Shows how far a suite is until it has ended. Ginkgo's exit code says no more than the report does. */
export async function watchSpecs(watched: {
  readonly logFile: string;
  readonly ended: Promise<unknown>;
  readonly progress: Progress;
  /** Before every line of progress. */
  readonly label?: string;
}): Promise<void> {
  const { logFile, progress, label = '' } = watched;
  const clock = createSystemClock();
  const start = clock.mono();
  using _ticks = ticking(progress, clock, () => {
    const { done, failed, total } = readProgress(readFileSync(logFile, 'utf8'));
    return `${label}${done} of ${total ?? '?'} specs done, ${failed} failed, ${formatElapsed(clock.mono() - start)}`;
  });
  await watched.ended;
}

export function readProgress(log: string): { done: number; failed: number; total: number | undefined } {
  const total = /Will run (\d+) of \d+ specs/.exec(log)?.[1];
  return {
    done: log.match(/^•/gm)?.length ?? 0,
    failed: log.match(/^• \[(FAILED|PANICKED|TIMEDOUT|INTERRUPTED)\]/gm)?.length ?? 0,
    total: total === undefined ? undefined : Number(total),
  };
}
