/**
 * Starts the built `dist/kubelet` as a process of its own, in a mount namespace in which the fixed places of a node are empty, so that
 * nothing of the machine is touched and several kubelets run side by side.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get as httpsGet } from 'node:https';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const binary = resolve(import.meta.dirname, '../../dist/kubelet');

export interface KubeletOptions {
  /** The program, where it is not `dist/kubelet`. */
  readonly program?: string;
  /** Fields added to a configuration that works on any test machine; `null` starts without `--config`. */
  readonly config?: Readonly<Record<string, unknown>> | null;
  /** The text of the configuration file, instead of fields. */
  readonly configText?: string;
  /** Drop-ins by file name: `--config-dir` is given when there are any. */
  readonly dropins?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly flags?: readonly string[];
  /** Shell commands run in the mount namespace before the kubelet; `$DIR` is its directory. */
  readonly prepare?: string;
  /** The directory, where a test has prepared one. */
  readonly directory?: string;
  readonly healthzPort?: number;
  /** Where its server listens, where the configuration of the test says so. */
  readonly server?: { readonly address: string; readonly port: number };
  /** False leaves stderr unread, for a test that reads it in its own way. */
  readonly readLog?: boolean;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface KubeletProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly directory: string;
  readonly configFile: string;
  readonly healthzPort: number;
  /** Of the server with TLS. */
  readonly serverPort: number;
  readonly exited: Promise<Exit>;
  /** Everything on stderr until now. */
  log(): string;
  stdout(): string;
  /** Resolves when a line of stderr matches; rejects when the process ends without it. */
  waitForLog(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves when the health port answers. */
  up(): Promise<void>;
  /** Resolves when the server with TLS takes connections, which may be later. */
  serving(): Promise<void>;
  get(path: string): Promise<{ readonly status: number; readonly body: string }>;
  /** From the server with TLS, with the node's token. */
  ask(path: string): Promise<{ readonly status: number; readonly body: string }>;
  configz(): Promise<Readonly<Record<string, unknown>>>;
  signal(name: NodeJS.Signals): void;
}

const HEAD = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };

/** `prepare` for a machine with cgroup v2: the hierarchies of the first generation go, so that none is only hidden. */
export const CGROUP_V2 = 'umount --recursive --lazy /sys/fs/cgroup\nmount -t cgroup2 none /sys/fs/cgroup';

/** What a kubelet without an API server needs, on a machine of either cgroup version. */
export function workingConfig(directory: string, healthzPort: number, port: number): Readonly<Record<string, unknown>> {
  return {
    ...HEAD,
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    healthzPort,
    port,
    podLogsDir: join(directory, 'pod-logs'),
    containerRuntimeEndpoint: `unix://${directory}/cri.sock`,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
  };
}

/** Below the ports that the kernel gives to outgoing connections: one of those would be taken again before the kubelet listens there. */
const [FIRST_PORT, LAST_PORT] = [12_000, 32_000];

export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT));
    const server = createServer();
    const isFree = await new Promise<boolean>((done) => {
      server.once('error', () => done(false));
      server.listen(port, '127.0.0.1', () => done(true));
    });
    if (!isFree) continue;
    await new Promise((done) => server.close(done));
    return port;
  }
}

/** Empty directories in place of the fixed ones of a node; where the machine has none, none is left on it either. */
const NAMESPACE = `set -e
for place in /var/lib/kubelet /var/log/containers; do
  [ -d "$place" ] || mount -t tmpfs none "\${place%/*}"
  mkdir -p "$place"
  mount -t tmpfs none "$place"
done
# The network is the machine's: no kubelet may change its packet filter, whatever its configuration says.
for program in /usr/sbin/xtables-*-multi; do
  [ ! -e "$program" ] || mount --bind /dev/null "$program"
done`;

/** A directory for one test, with what is mounted in it. */
export function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'kubelet-process-'));
}

/** Starts the kubelet and returns at once: see `up` and `exited`. Disposing ends it and removes its directory. */
export async function startKubelet(options: KubeletOptions = {}): Promise<KubeletProcess> {
  const program = options.program ?? binary;
  if (!existsSync(program)) throw new Error(`${program} is missing: run make build`);
  const directory = options.directory ?? temporaryDirectory();
  const healthzPort = options.healthzPort ?? (await freePort());
  const server = options.server ?? { address: '127.0.0.1', port: await freePort() };
  const configFile = join(directory, 'kubelet.yaml');
  const written = writeConfig(options, { directory, configFile, healthzPort, port: server.port });
  const flags = [...written, ...(options.flags ?? [])];
  const script = `${NAMESPACE}\n${options.prepare ?? ':'}\nexec "$@"`;
  const args = ['--mount', 'sh', '-c', script, 'sh', program, '--root-dir', join(directory, 'root'), ...flags];
  const child = spawn('unshare', args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Several of these run on this machine's own loopback at once: no port of a fixed number.
    env: { KUBELET_TS_PAGE: 'false', ...process.env, DIR: directory },
    cwd: directory,
  });
  return watch(child, {
    directory,
    configFile,
    healthzPort,
    server,
    readLog: options.readLog ?? true,
    owned: options.directory === undefined,
  });
}

function writeConfig(
  options: KubeletOptions,
  {
    directory,
    configFile,
    healthzPort,
    port,
  }: { directory: string; configFile: string; healthzPort: number; port: number },
): string[] {
  const flags: string[] = [];
  if (options.config !== null) {
    const fields = { ...workingConfig(directory, healthzPort, port), ...options.config };
    writeFileSync(configFile, options.configText ?? JSON.stringify(fields));
    flags.push('--config', configFile);
  } else flags.push(`--healthz-port=${healthzPort}`, `--port=${port}`);
  if (options.dropins !== undefined) {
    const dir = join(directory, 'kubelet.conf.d');
    mkdirSync(dir, { recursive: true });
    for (const [name, fields] of Object.entries(options.dropins)) {
      writeFileSync(join(dir, name), JSON.stringify({ ...HEAD, ...fields }));
    }
    flags.push('--config-dir', dir);
  }
  return flags;
}

interface WatchOptions {
  readonly directory: string;
  readonly configFile: string;
  readonly healthzPort: number;
  readonly server: { readonly address: string; readonly port: number };
  readonly readLog: boolean;
  /** Whether the directory goes with the kubelet. */
  readonly owned: boolean;
}

function watch(
  child: ChildProcess,
  { directory, configFile, healthzPort, server, readLog, owned }: WatchOptions,
): KubeletProcess {
  let log = '';
  let stdout = '';
  let ended: Exit | undefined;
  const onLog = new Set<() => void>();
  const exited = new Promise<Exit>((done) => {
    child.on(readLog ? 'close' : 'exit', (code, signal) => {
      ended = { code, signal };
      done(ended);
      for (const wake of onLog) wake();
    });
  });
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  if (readLog) {
    child.stderr?.on('data', (chunk) => {
      log += chunk;
      for (const wake of onLog) wake();
    });
  }
  const get = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${healthzPort}${path}`, { headers: { connection: 'close' } });
    return { status: answer.status, body: await answer.text() };
  };
  const until = async (isSo: () => Promise<boolean>) => {
    while (!(await isSo())) {
      if (ended !== undefined) throw new Error(`the kubelet ended with code ${ended.code}:\n${log}`);
      await new Promise((next) => setTimeout(next, 5));
    }
  };
  const up = () =>
    until(async () => {
      const answer = await get('/healthz/ping').catch(() => undefined);
      return answer?.status === 200;
    });
  const serving = () => until(() => isListening(server));
  const ask = async (path: string) => {
    await serving();
    return await askServer(server, join(directory, 'root/server-token'), path);
  };
  const waitForLog = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((found, fail) => {
      const look = () => {
        const match = pattern.exec(log);
        if (match === null && ended === undefined) return;
        onLog.delete(look);
        if (match !== null) found(match);
        else fail(new Error(`the kubelet ended (${ended?.code}) without logging ${pattern}:\n${log}`));
      };
      onLog.add(look);
      look();
    });
  return {
    child,
    pid: child.pid ?? 0,
    directory,
    configFile,
    healthzPort,
    serverPort: server.port,
    exited,
    log: () => log,
    stdout: () => stdout,
    waitForLog,
    up,
    serving,
    get,
    ask,
    configz: async () => JSON.parse((await ask('/configz')).body).kubeletconfig,
    signal: (name) => void child.kill(name),
    [Symbol.asyncDispose]: async () => {
      if (ended === undefined) child.kill('SIGKILL');
      child.stderr?.resume();
      await exited;
      if (owned) rmSync(directory, { recursive: true, force: true });
    },
  };
}

function isListening({ address, port }: { readonly address: string; readonly port: number }): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, address, () => {
      socket.destroy();
      done(true);
    });
    socket.on('error', () => done(false));
  });
}

/** Asks the server of a node without a cluster, whose certificate no one knows, with the token that it has made. */
export function askServer(
  { address, port }: { readonly address: string; readonly port: number },
  tokenFile: string,
  path: string,
): Promise<{ readonly status: number; readonly body: string }> {
  const headers = { authorization: `Bearer ${readFileSync(tokenFile, 'utf8').trim()}` };
  return new Promise((resolve, reject) => {
    const options = { host: address, port, path, headers, rejectUnauthorized: false, agent: false };
    const request = httpsGet(options, (response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    request.on('error', reject);
  });
}

/** Runs the kubelet to its end. */
export async function runKubelet(
  options: KubeletOptions,
): Promise<Exit & { readonly stdout: string; readonly stderr: string }> {
  await using kubelet = await startKubelet(options);
  const exit = await kubelet.exited;
  return { ...exit, stdout: kubelet.stdout(), stderr: kubelet.log() };
}
