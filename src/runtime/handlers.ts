/** What the runtime calls itself and what its handlers can do: asked for once, and again after it was away. */
import type { Clock } from '../base/clock.ts';
import { isClassified } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { StatusResponse } from '../wire/gen/cri-runtime-v1.ts';

export interface HandlersDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly status: (options: object, signal: AbortSignal) => Promise<StatusResponse>;
  readonly version: (signal: AbortSignal) => Promise<{ readonly runtimeName: string }>;
}

export interface Handlers extends Part {
  features(handler: string): { readonly recursiveReadOnly: boolean; readonly userNamespaces: boolean };
  /** Whether groups that the image gives a user can be left out; undefined before the runtime has reported it. */
  strictGroups(): boolean | undefined;
  /** What container ids begin with. */
  runtimeName(): string;
}

const RETRY_MS = 1000;
const NOTHING = { recursiveReadOnly: false, userNamespaces: false };

export function createHandlers({ clock, log, supervisor, status, version }: HandlersDeps): Handlers {
  let known = new Map<string, { recursiveReadOnly: boolean; userNamespaces: boolean }>();
  let name = 'containerd';
  let strictGroups: boolean | undefined;
  let asking: Promise<void> = Promise.resolve();

  let isKnown = false;
  const ask = async (signal: AbortSignal): Promise<void> => {
    try {
      name = (await version(signal)).runtimeName;
      const { runtimeHandlers, features } = await status({}, signal);
      strictGroups = features?.supplementalGroupsPolicy ?? false;
      known = new Map(
        runtimeHandlers.map((handler) => [
          handler.name,
          {
            recursiveReadOnly: handler.features?.recursiveReadOnlyMounts ?? false,
            userNamespaces: handler.features?.userNamespaces ?? false,
          },
        ]),
      );
      isKnown = true;
    } catch (error) {
      if (signal.aborted || !isClassified(error)) throw error;
      log.v(2)?.info('Failed to get the features of the container runtime', { err: error });
    }
  };
  const rest = (signal: AbortSignal) => clock.sleep(RETRY_MS, signal);

  return {
    name: 'runtime handlers',
    start: (signal) => {
      asking = supervisor.run({ name: 'runtime handlers', pass: ask, rest, isDone: () => isKnown }, signal);
    },
    stop: () => asking,
    features: (handler) => known.get(handler) ?? NOTHING,
    strictGroups: () => strictGroups,
    runtimeName: () => name,
  };
}
