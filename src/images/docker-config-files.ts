/** The node's own registry credentials, from Docker's files: the first one that exists and can be read is used. */

import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { isPathMissing } from '../base/errno.ts';
import type { Logger } from '../base/logger.ts';
import type { Surroundings } from './ports.ts';
import { type Logins, parseDockerConfigJson, parseDockercfg } from './rules/docker-config.ts';

export interface DockerConfigFiles {
  read(): Promise<Logins>;
}

/** A changed file is used after this time at the latest. */
const KEEP_MS = 5 * 60_000;

export interface DockerConfigPlaces extends Pick<Surroundings, 'workingDirectory' | 'homeDirectory'> {
  readonly rootDirectory: string;
}

export function createDockerConfigFiles(
  { clock, log }: { readonly clock: Pick<Clock, 'mono'>; readonly log: Logger },
  places: DockerConfigPlaces,
): DockerConfigFiles {
  let kept: { readonly logins: Logins; readonly until: number } | undefined;
  return {
    read: async () => {
      if (kept !== undefined && clock.mono() < kept.until) return kept.logins;
      const logins = await readFirst(places, log);
      kept = { logins, until: clock.mono() + KEEP_MS };
      return logins;
    },
  };
}

async function readFirst(places: DockerConfigPlaces, log: Logger): Promise<Logins> {
  for (const { path, parse } of candidates(places)) {
    const text = await readIfThere(path, log);
    if (text === undefined) continue;
    const logins = parse(text);
    if (logins.ok) {
      log.v(4)?.info('Using registry credentials from file', { path });
      return logins.value;
    }
    log.warn('Ignoring file of registry credentials', { path, problem: logins.problem });
  }
  return new Map();
}

/** Every directory for the new form, then every directory for the old one. */
function candidates({ rootDirectory, workingDirectory, homeDirectory }: DockerConfigPlaces) {
  const home = homeDirectory === undefined ? [] : [homeDirectory];
  const inDirectories = [rootDirectory, workingDirectory];
  return [
    ...[...inDirectories, ...[...home, '/'].map((directory) => join(directory, '.docker'))].map((directory) => ({
      path: resolve(directory, 'config.json'),
      parse: parseDockerConfigJson,
    })),
    ...[...inDirectories, ...home, '/'].map((directory) => ({
      path: resolve(directory, '.dockercfg'),
      parse: parseDockercfg,
    })),
  ];
}

async function readIfThere(path: string, log: Logger): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (!isPathMissing(error)) {
      log.warn('Failed to read file of registry credentials', { path, err: error });
    }
    return undefined;
  }
}
