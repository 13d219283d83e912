/** The command: reads argv, signals and the streams of the process, and decides its exit code. Nothing else reads `process`. */

import { readdirSync, readFileSync, realpathSync, writeFileSync, writeSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { type Clock, createSystemClock } from './base/clock.ts';
import { hasErrno } from './base/errno.ts';
import { describeError } from './base/errors.ts';
import type { Logger } from './base/logger.ts';
import type { Kubelet } from './compose/compose.ts';
import type { ProcessPort } from './compose/server.ts';
import { type Config, type ConfigOutcome, readConfig } from './config/config.ts';
import { watchConfigFiles } from './config/file-watch.ts';
import { createReload } from './config/reload.ts';
import { type FileReader, readSources } from './config/sources.ts';
import { FILE_PROCESS_ARGUMENT } from './host/file-process-argument.ts';
import { IN, type Inotify } from './host/inotify.ts';
import { cgroupVersion, memoryBytes, numaNodes, onlineCpus } from './host/machine.ts';
import { createCallerFinder } from './telemetry/caller.ts';
import { createLog, type Log } from './telemetry/log.ts';
import { logSettings } from './telemetry/log-settings.ts';

/** Written by `tools/build.ts` at the top of the bundle; absent when the sources run as they are. */
declare const CALLER_TABLE: string | undefined;

/** Log lines that no one reads for so long make the kubelet unhealthy. */
const LOG_STALLED_MS = 120_000;
/** What may be a new content of a file, in a directory of configuration. */
const FILE_CHANGES = IN.closeWrite | IN.movedFrom | IN.movedTo | IN.create | IN.delete | IN.attributes;
/** The longest timer there is. */
const FOREVER_MS = 2 ** 31 - 1;

const fileReader: FileReader = {
  readTextFile: (path) => readFileSync(path, 'utf8'),
  listDir: (path) =>
    readdirSync(path, { withFileTypes: true }).map((entry) => ({
      name: entry.name,
      isDirectory: entry.isDirectory(),
    })),
  workingDirectory: process.cwd(),
};

// The kubelet starts itself once more for work on files that may hang: see host/file-jobs.ts.
if (process.argv[2] === FILE_PROCESS_ARGUMENT) void doFileJobs();
else if (process.argv[2] === 'explain') void explain();
else if (process.argv[2] === 'drain') void drain();
else main();

/** The kubelet itself is loaded only where it runs: Node's network and crypto modules take longer than `--version` or a refused configuration. */
function main(): void {
  const outcome = read();
  if (outcome.kind === 'print') print(outcome.text);
  else if (outcome.kind === 'refused') refuse(outcome);
  else void run(outcome.config, outcome.warnings);
}

/** Straight to the descriptor where it takes all at once: Node's stream for it takes longer to load than the text to make. */
function print(text: string): void {
  const bytes = Buffer.from(text);
  let written = 0;
  try {
    written = writeSync(1, bytes);
  } catch (error) {
    if (!hasErrno(error, 'EAGAIN')) throw error;
  }
  if (written < bytes.length) process.stdout.write(bytes.subarray(written));
}

async function doFileJobs(): Promise<void> {
  const { runFileProcess } = await import('./host/file-process.ts');
  await runFileProcess({ input: process.stdin, write: (line) => void writeSync(1, line) });
}

/** The one command beside the kubelet itself: why a pod of this machine does not start. */
async function explain(): Promise<void> {
  const { runExplain } = await import('./local-api/explain-command.ts');
  const { code, output, error } = await runExplain({
    words: process.argv.slice(3),
    environment: process.env,
    now: Date.now,
  });
  process.stdout.write(output);
  process.stderr.write(error);
  process.exitCode = code;
}

/** `kubelet drain`: asks the kubelet of this machine to end its pods. */
async function drain(): Promise<void> {
  const { runDrainCommand } = await import('./shutdown/drain-command.ts');
  process.exitCode = await runDrainCommand(process.argv.slice(3), {
    print,
    complain: (text) => void process.stderr.write(text),
  });
}

function read(): ConfigOutcome {
  return readConfig(process.argv.slice(2), {
    ...fileReader,
    terminalWidth: () => process.stdout.columns ?? 80,
    build: { nodeVersion: process.version, platform: `${process.platform}/${process.arch}` },
    machine: () => ({
      onlineCpus: onlineCpus(),
      numaNodes: numaNodes(),
      memoryBytes: memoryBytes(),
      cgroupVersion: cgroupVersion(),
    }),
  });
}

function refuse({ problems, warnings, hint }: Extract<ConfigOutcome, { kind: 'refused' }>): void {
  const lines = problems.map((problem) => `Error: ${problem}`);
  // A hint goes with a wrong command line: that is one clear line. With a wrong file, the warnings may hold the clue.
  const more = hint === '' ? warnings.map((warning) => `Warning: ${warning}`) : [];
  process.stderr.write(`${[...more, ...lines, ...(hint === '' ? [] : [hint])].join('\n')}\n`);
  process.exitCode = 1;
}

async function run(config: Config, warnings: readonly string[]): Promise<void> {
  const { createKubelet } = await import('./compose/compose.ts');
  const { createHost } = await import('./host/host.ts');
  const localApi =
    config.settings.api.kubeconfig === '' ? (await import('./compose/local-api.ts')).composeLocalApi : undefined;
  tuneCompiler();
  const clock = createSystemClock();
  const host = createHost();
  const onLoss = (lines: number) => log.logger.warn('Log lines were dropped because no one took them', { lines });
  const error = host.openOutput(2, { clock, onLoss });
  const settings = logSettings(config.kubelet.logging);
  const info = settings.splitStream ? host.openOutput(1, { clock, onLoss }) : error;
  const findCaller = createCallerFinder(typeof CALLER_TABLE === 'undefined' ? undefined : CALLER_TABLE);
  const log = createLog(settings, { clock, pid: process.pid, findCaller, info, error });
  for (const warning of warnings) log.logger.warn(warning);
  nameProcess(log.logger);
  const logProblem = () => {
    const stalled = Math.max(error.stalledMs(), info.stalledMs());
    return stalled > LOG_STALLED_MS ? `no one has taken log lines for ${Math.round(stalled / 1000)} s` : undefined;
  };
  const setVerbosity = (verbosity: number) => log.setLevels({ ...settings, verbosity });
  const notify = (state: string) => {
    try {
      host.notifyServiceManager(process.env['NOTIFY_SOCKET'], state);
    } catch (err) {
      log.logger.warn('Failed to notify the service manager', { state, err });
    }
  };
  const kubelet = createKubelet(config, {
    clock,
    host,
    log: log.logger,
    logProblem,
    surroundings: surroundings(),
    program: ownProgram(),
    pageFile: (name) => host.pageFile(process.argv[1] ?? '', name),
    process: processPort(setVerbosity),
    localApi,
    serviceManager: { watchdog: host.readWatchdog(process.env, process.pid), notify },
  });
  const exit = (code: number): never => {
    log.flush();
    error.flush();
    info.flush();
    process.exit(code);
  };
  exit(await live({ config, kubelet, log, exit, notify, clock, inotify: host.files.inotify }));
}

/**
 * Functions are optimised only when they are called very often. The usual 400 and 3,000 calls are reached while pods start, when the runtime needs the processor more
 * than the compiler does: so the kubelet holds 8 MB less with 50 pods (90 to 82 MB), and what streams a log is still optimised (7 times the reference's speed; with
 * no compiler at all 3.6 times). Not options of the command line: with those V8 would refuse all code that was compiled before.
 */
function tuneCompiler(): void {
  setFlagsFromString('--invocation-count-for-maglev=20000');
  setFlagsFromString('--invocation-count-for-turbofan=100000');
}

/** What ps, pgrep and systemd call it: otherwise they show the name that Node gives to its main thread. */
function nameProcess(log: Logger): void {
  try {
    writeFileSync('/proc/self/comm', 'kubelet');
  } catch (err) {
    log.v(2)?.info('Failed to set the name of the process', { err });
  }
}

/** How this program is started once more. */
function ownProgram() {
  const [, script = ''] = process.argv;
  return { path: process.execPath, args: [...process.execArgv, script, FILE_PROCESS_ARGUMENT] };
}

interface Running {
  readonly config: Config;
  readonly kubelet: Kubelet;
  readonly log: Log;
  /** Ends the process when the last log line is out. */
  exit(code: number): never;
  /** Reports a state to systemd. */
  notify(state: string): void;
  readonly clock: Clock;
  readonly inotify: Inotify;
}

/** What pages and metrics show of this process. */
function processPort(setVerbosity: (level: number) => void): ProcessPort {
  return {
    argv: process.argv,
    runtime: `node ${process.version}`,
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
    memoryUsage: process.memoryUsage,
    activeResources: process.getActiveResourcesInfo,
    setVerbosity,
  };
}

/** What the images part inherits of this process. */
function surroundings() {
  const { HOME: homeDirectory } = process.env;
  return { environment: process.env, workingDirectory: process.cwd(), homeDirectory };
}

/** From start to stop; the exit code. */
async function live({ config, kubelet, log, exit, notify, clock, inotify }: Running): Promise<number> {
  // Sockets may come and go: a kubelet waits for work until it is asked to end.
  setInterval(() => undefined, FOREVER_MS);
  setInterval(log.flush, Math.min(Math.max(config.kubelet.logging.flushFrequency, 1), FOREVER_MS)).unref();
  const apply = (next: Config) => {
    log.setLevels(logSettings(next.kubelet.logging));
    kubelet.show(next);
  };
  const reload = createReload(config, { log: log.logger, read, apply, onRefused: kubelet.configRefused });
  process.on('SIGHUP', watchFiles(config, { clock, inotify, reload }));
  const started = kubelet.start().then(() => notify('READY=1'));
  try {
    const ended = await Promise.race([
      stopSignal(log.logger, exit),
      unexpectedError(log.logger),
      started.then(() => endingOf(kubelet)),
    ]);
    log.logger.info('Kubelet is stopping', { reason: ended.reason });
    notify('STOPPING=1');
    await stop(kubelet, log.logger);
    return ended.code;
  } catch (err) {
    log.logger.error('Kubelet failed to start', { err });
    return 1;
  }
}

/** Reads the files again when they have changed; what was read before and is the same is left alone. Answers how they are read again at once. */
function watchFiles(
  { settings }: Config,
  { clock, inotify, reload }: Pick<Running, 'clock' | 'inotify'> & { readonly reload: () => void },
): () => void {
  const textNow = () => JSON.stringify(readSources(settings.sources, fileReader));
  let known = textNow();
  const reloadNow = () => {
    known = textNow();
    reload();
  };
  const onChange = () => {
    if (textNow() !== known) reloadNow();
  };
  const watch = (directory: string, listener: () => void) => inotify.watch(directory, FILE_CHANGES, listener);
  const reader = { ...fileReader, resolveLinks: realpathSync };
  watchConfigFiles({ clock, reader, watch, onChange }, settings.sources, new AbortController().signal);
  return reloadNow;
}

interface Ended {
  readonly reason: string;
  readonly code: number;
}

async function endingOf(kubelet: Kubelet): Promise<Ended> {
  const ending = await kubelet.ending;
  if (ending.kind === 'handover') return { reason: ending.reason, code: 0 };
  return { reason: describeError(ending.error), code: 1 };
}

async function stop(kubelet: Kubelet, log: Logger): Promise<void> {
  const { failed, unfinished } = await kubelet.stop();
  for (const { part, error } of failed) log.error('Failed to stop part', { part, err: error });
  if (unfinished.length > 0) log.warn('Parts did not stop within the deadline', { parts: unfinished });
}

/** SIGTERM and SIGINT ask for an orderly end; the second signal ends the process at once. */
function stopSignal(log: Logger, exit: (code: number) => never): Promise<Ended> {
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = (signal: NodeJS.Signals) => {
      if (asked) {
        log.warn('Second signal: exiting at once', { signal });
        exit(1);
      }
      asked = true;
      resolve({ reason: signal, code: 0 });
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}

/** An uncaught error leaves the kubelet in an unknown state: it is logged in full, and the process ends in order. */
function unexpectedError(log: Logger): Promise<Ended> {
  return new Promise((resolve) => {
    process.on('uncaughtException', (error) => {
      log.error('Unexpected error', { err: error, stack: error instanceof Error ? error.stack : undefined });
      resolve({ reason: 'an unexpected error', code: 1 });
    });
  });
}
