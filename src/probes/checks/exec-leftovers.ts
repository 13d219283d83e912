/** Kills the processes that a command leaves behind in its container after its timeout. */
import type { Clock } from '../../base/clock.ts';
import { type ContainerProcess, endedOf, firstProcesses, leftoversOf } from '../rules/leftovers.ts';

export interface ProcessesPort {
  inCgroup(part: string): readonly ContainerProcess[];
  uptime(): number;
  commandOf(pid: number): readonly string[] | undefined;
  kill(process: ContainerProcess): void;
}

export interface ExecLeftovers {
  /** Begins to watch a command that takes long, while it still runs. */
  watch(exec: ExecUnderWay): ExecWatch;
  /** Resolves when nothing is being ended in this container. A command that begins before that could be taken for the old one. */
  idle(containerId: string): Promise<void>;
}

export interface ExecWatch {
  /** To be called now and then until the end: a command that came and went between two looks was never seen. */
  look(): void;
  /** The runtime was requested to end the command: makes sure that all of it ends. Goes on in the background. */
  end(): void;
}

export interface ExecUnderWay {
  readonly containerId: string;
  readonly command: readonly string[];
  /** How long ago the runtime was asked to run it. */
  readonly startedAfterMs: number;
}

const LOOK_AGAIN_MS = 25;
/** So long the runtime has to end the command, which on a busy machine may not even have begun. */
const RUNTIME_ENDS_WITHIN_MS = 3000;
/** The clock of processes goes in steps of 10 ms. */
const INACCURACY_MS = 20;

const forever = new AbortController().signal;

export function createExecLeftovers(clock: Clock, processes: ProcessesPort): ExecLeftovers {
  const underWay = new Map<string, Promise<void>>();
  return {
    watch: (exec) => {
      const watch = watchCommand(processes, exec);
      return {
        look: watch.look,
        end: () => {
          const ending = endAll(clock, processes, watch).finally(() => {
            if (underWay.get(exec.containerId) === ending) underWay.delete(exec.containerId);
          });
          underWay.set(exec.containerId, ending);
        },
      };
    },
    idle: (containerId) => underWay.get(containerId) ?? Promise.resolve(),
  };
}

interface CommandWatch {
  look(): void;
  /** What a command that has ended left behind; undefined as long as none has ended. */
  leftBehind(): readonly ContainerProcess[] | undefined;
  /** All of what is surely this command, ended or not. */
  family(): readonly ContainerProcess[];
}

/** Remembers all processes that it has seen: the children of one that is gone do not show whose they were. */
function watchCommand(processes: ProcessesPort, exec: ExecUnderWay): CommandWatch {
  const { containerId } = exec;
  const startedFrom = processes.uptime() - exec.startedAfterMs - INACCURACY_MS;
  const wanted = JSON.stringify(exec.command);
  const seen = new Map<string, ContainerProcess>();
  const first = new Map<string, ContainerProcess>();
  const sure = new Set<string>();
  const keyOf = ({ pid, startedAt }: ContainerProcess) => `${pid} ${startedAt}`;

  const scan = (): readonly ContainerProcess[] => {
    const now = processes.inCgroup(containerId);
    for (const process of now) seen.set(keyOf(process), seen.get(keyOf(process)) ?? process);
    // One that is just being started shows only in a later look what it is.
    for (const process of firstProcesses(now, startedFrom)) {
      first.set(keyOf(process), process);
      if (JSON.stringify(processes.commandOf(process.pid)) === wanted) sure.add(keyOf(process));
    }
    return now;
  };
  /** Others may run commands in the container too; one with another command line counts only if none has this one. */
  const candidates = (): readonly ContainerProcess[] => {
    const all = [...first.values()];
    const mine = all.filter((process) => sure.has(keyOf(process)));
    return mine.length > 0 ? mine : all;
  };
  scan();
  return {
    look: () => void scan(),
    leftBehind: () => {
      const now = scan();
      const ended = endedOf(candidates(), now);
      return ended.length === 0 ? undefined : leftoversOf(ended, [...seen.values()], now);
    },
    family: () => {
      const now = scan();
      const mine = candidates().filter((process) => sure.has(keyOf(process)));
      return leftoversOf(mine, [...seen.values()], now);
    },
  };
}

async function endAll(clock: Clock, processes: ProcessesPort, watch: CommandWatch): Promise<void> {
  const until = clock.mono() + RUNTIME_ENDS_WITHIN_MS;
  const giveUpAt = until + RUNTIME_ENDS_WITHIN_MS;
  while (clock.mono() < giveUpAt) {
    // Where the runtime does not end the command, it is ended here.
    const left = watch.leftBehind() ?? (clock.mono() < until ? undefined : watch.family());
    // Until a look finds nothing: a process may have started another one just before its end.
    if (left?.length === 0) return;
    for (const process of left ?? []) processes.kill(process);
    await clock.sleep(LOOK_AGAIN_MS, forever);
  }
}

/** Where the processes of containers can't be seen. */
export const noLeftovers: ExecLeftovers = {
  watch: () => ({ look: () => undefined, end: () => undefined }),
  idle: () => Promise.resolve(),
};
