/** One program of the control plane, with a handle that can hurt it: stopped, killed, frozen, started again. */
import { setTimeout as delay } from 'node:timers/promises';
import { describeExit, type Part, type PartExit } from '../../../tools/machine/part.ts';
import type { ComponentName } from './components.ts';

export interface Component {
  readonly name: ComponentName;
  readonly pid: number;
  readonly logFile: string;
  isRunning(): boolean;
  /** Starts it with the command line it had before, and waits until it is healthy. */
  start(): Promise<void>;
  /** SIGTERM, and SIGKILL where that does not help in time. */
  stop(): Promise<PartExit>;
  restart(): Promise<void>;
  /** SIGKILL: it notices nothing. Resolves when it is gone. */
  kill(): Promise<PartExit>;
  /** SIGSTOP: its connections stay open and no one answers, until `resume`. */
  freeze(): void;
  resume(): void;
  signal(name: NodeJS.Signals): void;
  /** Waits until its health endpoint says ok; fails at once, with the end of its log, if it ends before. */
  waitUntilHealthy(): Promise<void>;
}

export interface ComponentDeps {
  readonly name: ComponentName;
  readonly launch: () => Promise<Part>;
  /** One look at the health endpoint. Anything but a plain yes, also no connection, is a no. */
  readonly isHealthy: () => Promise<boolean>;
}

const MS_BETWEEN_LOOKS = 50;
/** Seconds on an idle machine. */
const HEALTH_DEADLINE_MS = 180_000;

export function createComponent(deps: ComponentDeps): Component {
  const { name } = deps;
  let part: Part | undefined;
  const running = (): Part => {
    if (part === undefined) throw new Error(`${name} was not started`);
    return part;
  };

  const component: Component = {
    name,
    get pid() {
      return running().pid;
    },
    get logFile() {
      return running().logFile;
    },
    isRunning: () => part?.isRunning() ?? false,
    start: async () => {
      if (component.isRunning()) throw new Error(`${name} runs already (pid ${component.pid})`);
      part = await deps.launch();
      await component.waitUntilHealthy();
    },
    stop: async () => {
      component.resume(); // a frozen process would not see the signal
      return await running().stop();
    },
    restart: async () => {
      if (component.isRunning()) await component.stop();
      await component.start();
    },
    kill: async () => {
      running().kill('SIGKILL');
      return await running().exited;
    },
    freeze: () => running().kill('SIGSTOP'),
    resume: () => running().kill('SIGCONT'),
    signal: (signal) => running().kill(signal),
    waitUntilHealthy: async () => {
      const deadline = performance.now() + HEALTH_DEADLINE_MS;
      while (!(await deps.isHealthy())) {
        const why = await whyNotHealthy(running(), deadline);
        if (why !== undefined) throw new Error(`${name} ${why}:\n${running().logTail()}`);
        await delay(MS_BETWEEN_LOOKS);
      }
    },
  };
  return component;
}

async function whyNotHealthy(part: Part, deadline: number): Promise<string | undefined> {
  if (!part.isRunning()) return `ended (${describeExit(await part.exited)}) before it was healthy`;
  if (performance.now() > deadline) return `is not healthy after ${HEALTH_DEADLINE_MS} ms`;
  return undefined;
}
