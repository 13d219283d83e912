/**
 * A whole machine of its own for what this one can't show: Debian with systemd as process 1 and cgroup v2, under qemu without any help
 * of the processor, so several times slower. It has no network card; files come in by a disk, commands and answers by a port.
 */

import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Captured } from '../../../tools/machine/capture.ts';
import type { RuntimeBinaries } from '../../../tools/machine/containerd.ts';
import type { WorldPlace } from '../../../tools/machine/ledger.ts';
import type { Image } from '../../../tools/machine/oci/image.ts';
import { describeExit, type Part, type PartExit } from '../../../tools/machine/part.ts';
import { createWorld, type World } from '../../../tools/machine/world.ts';
import type { RuntimeName } from '../supplies.ts';
import { type Agent, listenForAgent } from './agent.ts';
import type { BaseImage } from './base-image.ts';
import { type GuestFiles, makeFilesDisk } from './files-disk.ts';
import {
  installScript,
  type KubeletForm,
  type KubeletInstallation,
  kubeletFiles,
  START_SCRIPT,
  START_TIMEOUT_MS,
} from './kubelet.ts';
import { logTail } from './log-tail.ts';
import { consoleLogOf, journalLogOf, qemuCommand } from './qemu.ts';
import { type GuestRuntime, runtimeFiles, startScript } from './runtime.ts';

export interface GuestOptions {
  /** The running test: if it fails, console and journal are kept and their place is printed. */
  readonly test?: TestContext;
  /** What is at /files in the guest, by the path below it. */
  readonly files?: GuestFiles;
  /** Debian's 1.6 is on every guest's disk and the default; the newer one comes along on the disk of files. */
  readonly runtime?: RuntimeName;
  /** Imported when containerd starts. */
  readonly images?: readonly Image[];
  /** What `installKubelet` can install: the bundle of `make build` (default), the release of `make dist`, or both. */
  readonly kubelets?: readonly KubeletForm[];
  readonly memoryMiB?: number;
  readonly cpus?: number;
}

export interface RunOptions {
  /** A minute unless told: everything takes its time in there. */
  readonly timeoutMs?: number;
}

export interface GuestWorld {
  readonly id: string;
  readonly world: World;
  /** The virtual machine's process. */
  readonly pid: number;
  /** The kernel's words, and everything that any service says. */
  readonly consoleLog: string;
  readonly journalLog: string;
  /** Resolves when the virtual machine has ended, for whatever reason (`systemctl poweroff`, for one). */
  readonly exited: Promise<PartExit>;
  /** Runs a bash script as root. Its exit code is part of the answer; too slow a script, or the end of the guest, is an error. */
  run(script: string, options?: RunOptions): Promise<Captured>;
  /** The same, where any exit code but zero is an error. Answers the standard output. */
  runOk(script: string, options?: RunOptions): Promise<string>;
  /** containerd with the systemd cgroup driver, and its images. */
  startContainerd(): Promise<void>;
  /** Puts the kubelet, its unit and its configuration where the release says; starts nothing. */
  installKubelet(installation?: KubeletInstallation): Promise<void>;
  /** Starts the installed kubelet and waits until it is healthy. */
  startKubelet(): Promise<void>;
  /** A clean restart of the whole guest, with what is on its disk. */
  reboot(): Promise<void>;
  destroy(): Promise<void>;
}

export interface Guest extends GuestWorld, AsyncDisposable {
  /** Ends the virtual machine at once; nothing of it stays. */
  stop(): Promise<void>;
}

export interface GuestDeps {
  readonly place: WorldPlace;
  readonly id: string;
  readonly base: BaseImage;
  readonly repoRoot: string;
  /** Instead of the runtime on the base disk. */
  readonly runtime?: RuntimeBinaries;
}

const RUN_TIMEOUT_MS = 300_000;
/** It takes about 20 s with two processors to itself, and ten times as long on a machine that is busy. */
const BOOT_DEADLINE_MS = 600_000;
const MEMORY_MIB = 1536;
const CPUS = 2;

/** The guest answers to commands when this resolves; the rest of its boot may still be under way. */
export async function createGuest(deps: GuestDeps, options: GuestOptions): Promise<GuestWorld> {
  const kubelets = options.kubelets ?? ['bundle'];
  const runtime: GuestRuntime = {
    images: options.images ?? [],
    ...(deps.runtime === undefined ? {} : { binaries: deps.runtime }),
  };
  const files: GuestFiles = {
    ...runtimeFiles(runtime),
    ...(await kubeletFiles(deps.repoRoot, kubelets)),
    ...options.files,
  };
  const world = await createWorld({ place: deps.place, id: deps.id });
  try {
    const { part, agent } = await boot(world, deps.base, files, options);
    const guest = new RunningGuest({ world, part, agent });
    return {
      ...guest.doors(),
      startContainerd: async () => {
        await guest.runOk(startScript(runtime));
      },
      installKubelet: async (installation = {}) => {
        await guest.runOk(await installScript(deps.repoRoot, kubelets, installation));
      },
      startKubelet: async () => {
        await guest.runOk(START_SCRIPT, { timeoutMs: START_TIMEOUT_MS });
      },
    };
  } catch (error) {
    await world.destroy();
    throw error;
  }
}

async function boot(
  world: World,
  base: BaseImage,
  files: GuestFiles,
  options: GuestOptions,
): Promise<{ part: Part; agent: Agent }> {
  const filesDisk = join(world.directory, 'files.img');
  await makeFilesDisk(files, filesDisk);
  const agentSocket = join(world.directory, 'agent.sock');
  const agent = await listenForAgent(agentSocket);
  const machine = qemuCommand({
    base,
    filesDisk,
    agentSocket,
    logsDirectory: world.logsDirectory,
    memoryMiB: options.memoryMiB ?? MEMORY_MIB,
    cpus: options.cpus ?? CPUS,
  });
  try {
    const part = await world.start({
      name: 'qemu',
      // A machine whose owner was killed must not go on burning two processors until the next run takes its world away.
      argv: ['setpriv', '--pdeathsig', 'KILL', ...machine],
      // What the guest writes to its disk goes to a nameless file there.
      env: { TMPDIR: world.directory },
    });
    const words = () => lastWords(world, part);
    part.exited.then((exit) =>
      agent.close(() => new Error(`the guest's virtual machine ended (${describeExit(exit)}); ${words()}`)),
    );
    await untilBooted(agent.booted(), words);
    return { part, agent };
  } catch (error) {
    agent.close(() => new Error('the guest could not be started'));
    throw error;
  }
}

async function untilBooted(booted: Promise<string>, tail: () => string): Promise<string> {
  const timer = new AbortController();
  const late = delay(BOOT_DEADLINE_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`the guest does not answer after ${BOOT_DEADLINE_MS} ms; ${tail()}`);
  });
  try {
    return await Promise.race([booted, late]);
  } finally {
    timer.abort();
    late.catch(() => undefined);
    booted.catch(() => undefined);
  }
}

const lastWords = (world: World, part: Part): string =>
  `qemu said:\n${part.logTail()}\nthe end of its console:\n${logTail(consoleLogOf(world.logsDirectory))}`;

class RunningGuest {
  readonly #world: World;
  readonly #part: Part;
  readonly #agent: Agent;

  constructor(made: { world: World; part: Part; agent: Agent }) {
    this.#world = made.world;
    this.#part = made.part;
    this.#agent = made.agent;
  }

  doors(): Omit<GuestWorld, 'startContainerd' | 'installKubelet' | 'startKubelet'> {
    const { id, logsDirectory } = this.#world;
    return {
      id,
      world: this.#world,
      pid: this.#part.pid,
      consoleLog: consoleLogOf(logsDirectory),
      journalLog: journalLogOf(logsDirectory),
      exited: this.#part.exited,
      run: (script, options) => this.run(script, options),
      runOk: (script, options) => this.runOk(script, options),
      reboot: () => this.reboot(),
      destroy: () => this.destroy(),
    };
  }

  run(script: string, options: RunOptions = {}): Promise<Captured> {
    return this.#agent.run(script, options.timeoutMs ?? RUN_TIMEOUT_MS);
  }

  async runOk(script: string, options: RunOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(script, options);
    if (code !== 0) {
      throw new Error(`in the guest: ${script}: exit code ${code}: ${stderr.trim() || stdout.trim() || 'no output'}`);
    }
    return stdout;
  }

  async reboot(): Promise<void> {
    const before = await this.#agent.booted();
    // Its answer may or may not get out before the agent is ended.
    this.run('systemctl --no-block reboot').catch(() => undefined);
    await untilBooted(this.#agent.booted(before), () => lastWords(this.#world, this.#part));
  }

  async destroy(): Promise<void> {
    this.#agent.close(() => new Error('the guest was stopped'));
    await this.#world.destroy();
  }
}
