/**
 * Plugins that register by a socket below `plugins_registry`: each socket is asked what it is, and its kind's handler takes it. Sockets are found by
 * events, in directories of any depth; one that was made again under the same name is another plugin. Each is handled by itself: one that hangs
 * holds up no other.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { hasErrno, isMissing } from '../base/errno.ts';
import { CodedError, describeError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import { type LinkedSignal, linkSignal } from '../base/signal.ts';
import type { Supervisor } from '../base/supervise.ts';
import { createWakeBit } from '../base/wake.ts';
import { IN, type Inotify } from '../host/inotify.ts';
import type { RecordNodeEvent } from '../model/event.ts';
import { type PluginHandlers, type RegisteredPlugin, registerPlugin } from './register.ts';
import { retryDelay } from './rules/retry.ts';

export interface PluginsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly inotify: Pick<Inotify, 'watch'>;
  readonly record: RecordNodeEvent;
  /** By type, as plugins call it: `DevicePlugin`, `CSIPlugin`, `DRAPlugin`. */
  readonly handlers: PluginHandlers;
}

export interface PluginsConfig {
  /** `plugins_registry` below the root directory. */
  readonly directory: string;
}

export interface Plugins extends Part {
  /** The sockets of the plugins that are registered now. */
  registered(): readonly string[];
}

interface Found {
  /** Another socket under the same name has another one. */
  readonly inode: string;
  readonly link: LinkedSignal;
  registered: RegisteredPlugin | undefined;
}

const WATCHED = IN.create | IN.delete | IN.movedFrom | IN.movedTo;
/** So deep do directories go, and so many sockets are there, that anyone has a use for. */
const DEEPEST = 8;
const MOST_SOCKETS = 1000;

export function createPlugins(deps: PluginsDeps, { directory }: PluginsConfig): Plugins {
  const { clock, log, supervisor, inotify, record, handlers } = deps;
  const found = new Map<string, Found>();
  const watches = new Map<string, { close(): void }>();
  const bit = createWakeBit();
  let running: Promise<void> = Promise.resolve();

  const remove = (path: string): void => {
    const plugin = found.get(path);
    if (plugin === undefined) return;
    found.delete(path);
    plugin.link.abort(new CodedError('gone', `${path}: the socket is gone`));
    if (plugin.registered === undefined) return;
    const { name, endpoint, handler } = plugin.registered;
    log.info('Deregistering plugin', { path, plugin: name });
    supervisor.guard('plugin handler', { path }, () => handler.deregister(name, endpoint));
  };

  const report = (path: string, message: string, failures: number): void => {
    log.error('Failed to register plugin, will retry', { path, err: message });
    if (failures === 1) record({ node: true, type: 'Warning', reason: 'PluginRegistrationFailed', message });
  };

  /** Until it is registered, or its socket is gone. */
  const register = async (path: string, plugin: Found): Promise<void> => {
    const { signal } = plugin.link;
    let failures = 0;
    const isDone = () => plugin.registered !== undefined;
    const pass = async (): Promise<void> => {
      try {
        plugin.registered = await registerPlugin({ clock, handlers }, path, signal);
        log.info('Plugin registered', { path, plugin: plugin.registered.name, type: plugin.registered.type });
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        report(path, describeError(error), failures);
      }
    };
    const rest = () => clock.sleep(retryDelay(failures), signal);
    await supervisor.run({ name: 'plugin registration', about: { path }, oneOfMany: true, pass, rest, isDone }, signal);
  };

  const take = (path: string, inode: string, signal: AbortSignal): void => {
    if (found.get(path)?.inode === inode) return;
    remove(path);
    const plugin: Found = { inode, link: linkSignal(signal), registered: undefined };
    found.set(path, plugin);
    void register(path, plugin);
  };

  const watch = (path: string): void => {
    if (watches.has(path)) return;
    const watching = inotify.watch(path, WATCHED, (event) => {
      if (event.mask & IN.ignored) watches.delete(path);
      bit.wake();
    });
    watches.set(path, watching);
  };

  /** Looks at everything: an event says no more than that it is worth it. */
  const scan = async (signal: AbortSignal): Promise<void> => {
    const sockets = new Map<string, string>();
    const directories = new Set<string>();
    await walk(
      directory,
      0,
      async (path, depth) => {
        if (depth > DEEPEST) return false;
        directories.add(path);
        watch(path);
        return await Promise.resolve(true);
      },
      (path, inode) => {
        if (sockets.size < MOST_SOCKETS) sockets.set(path, inode);
      },
    );
    for (const [path, watching] of watches) {
      if (directories.has(path)) continue;
      watching.close();
      watches.delete(path);
    }
    for (const path of [...found.keys()]) if (!sockets.has(path)) remove(path);
    for (const [path, inode] of sockets) take(path, inode, signal);
  };

  return {
    name: 'plugins',
    start: (signal) => {
      running = supervisor.run({ name: 'plugin registry', pass: scan, rest: bit.wait }, signal);
    },
    stop: async () => {
      for (const watching of watches.values()) watching.close();
      watches.clear();
      await running;
    },
    registered: () => [...found].flatMap(([path, { registered }]) => (registered === undefined ? [] : [path])),
  };
}

/** Names with a leading dot are not for the kubelet. */
async function walk(
  path: string,
  depth: number,
  onDirectory: (path: string, depth: number) => Promise<boolean>,
  onSocket: (path: string, inode: string) => void,
): Promise<void> {
  try {
    // Watched before it is listed: what comes in between is seen either way.
    if (!(await onDirectory(path, depth))) return;
    for (const entry of await readdir(path, { withFileTypes: true })) {
      const child = join(path, entry.name);
      if (entry.name.startsWith('.')) continue;
      if (entry.isDirectory()) await walk(child, depth + 1, onDirectory, onSocket);
      else if (entry.isSocket()) {
        const { ino, ctimeNs } = await stat(child, { bigint: true });
        onSocket(child, `${ino} ${ctimeNs}`);
      }
    }
  } catch (error) {
    // Gone since it was listed; its parent has an event of it.
    if (depth === 0 || !(isMissing(error) || hasErrno(error, 'ENOTDIR') || isGone(error))) throw error;
  }
}

const isGone = (error: unknown): boolean => error instanceof CodedError && error.data['name'] === 'ENOENT';
