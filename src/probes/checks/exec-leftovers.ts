/** Ends what a command that ran into its timeout leaves behind in its container. */
import type { Clock } from '../../base/clock.ts';
import { type ContainerProcess, endedOf, firstProcesses, leftoversOf } from '../rules/leftovers.ts';

export interface ProcessesPort {
  inCgroup(part: string): readonly ContainerProcess[];
  uptime(): number;
  commandOf(pid: number): readonly string[] | undefined;
  kill(process: ContainerProcess): void;
}

export interface ExecLeftovers {
  /** Looks at the container while the command still runs. */
  look(exec: ExecUnderWay): { end(): Promise<void> };
}

export interface ExecUnderWay {
  readonly containerId: string;
  readonly command: readonly string[];
  /** How long ago the runtime was asked to run it. */
  readonly startedAfterMs: number;
}

const LOOK_AGAIN_MS = 20;
/** So long the runtime has to end the command it was told to end. */
const RUNTIME_ENDS_WITHIN_MS = 1000;
/** The clock of processes goes in steps of 10 ms. */
const INACCURACY_MS = 20;

const forever = new AbortController().signal;

export function createExecLeftovers(clock: Clock, processes: ProcessesPort): ExecLeftovers {
  return {
    look: ({ containerId, command, startedAfterMs }) => {
      const before = processes.inCgroup(containerId);
      const candidates = firstProcesses(before, processes.uptime() - startedAfterMs - INACCURACY_MS);
      const endAll = (commands: readonly ContainerProcess[]): boolean => {
        const left = leftoversOf(commands, before, processes.inCgroup(containerId));
        for (const process of left) processes.kill(process);
        return left.length > 0;
      };
      const isTheCommand = ({ pid }: ContainerProcess) =>
        JSON.stringify(processes.commandOf(pid)) === JSON.stringify(command);
      return {
        end: async () => {
          if (candidates.length === 0) return;
          const until = clock.mono() + RUNTIME_ENDS_WITHIN_MS;
          while (clock.mono() < until) {
            const ended = endedOf(candidates, processes.inCgroup(containerId));
            // Until a look finds nothing: a process may have started another one just before its end.
            if (ended.length > 0 && !endAll(ended)) return;
            await clock.sleep(LOOK_AGAIN_MS, forever);
          }
          // The runtime doesn't do it. Others may run commands in the container too: only what is surely this one is ended.
          endAll(candidates.filter(isTheCommand));
        },
      };
    },
  };
}

/** For where the processes of containers can't be seen. */
export const noLeftovers: ExecLeftovers = { look: () => ({ end: () => Promise.resolve() }) };
