/**
 * Which user ids pods with a user namespace of their own may have: the range that /etc/subuid and /etc/subgid give to the user `kubelet`,
 * as `getsubids` reports it. On a node without that user or that program, every id above those that the node itself may use.
 */
import { type Parsed, parsed, unparsable } from '../api/parsed.ts';
import type { Clock } from '../base/clock.ts';
import { hasErrno } from '../base/errno.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type RunProgram, runProgram } from '../host/program.ts';
import { defaultIdSpace, type IdSpace, idSpaceFault, parseSubIds } from './spec/id-ranges.ts';

export interface SubIdsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** A whole file of the system's configuration. */
  readonly readText: (path: string) => Promise<string>;
  readonly run?: RunProgram;
}

export interface SubIdsConfig {
  readonly idsPerPod: number;
  readonly maxPods: number;
}

const USER = 'kubelet';
const PROGRAM = 'getsubids';
const SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const DEADLINE_MS = 10_000;

export async function readIdSpace(deps: SubIdsDeps, { idsPerPod, maxPods }: SubIdsConfig): Promise<Parsed<IdSpace>> {
  const byDefault = defaultIdSpace(idsPerPod);
  if (!(await deps.readText('/etc/passwd')).split('\n').some((line) => line.startsWith(`${USER}:`))) {
    return parsed(byDefault);
  }
  try {
    const [users, groups] = await Promise.all([listIds(deps, []), listIds(deps, ['-g'])]);
    if (users !== groups) {
      return unparsable(`user and group ids of the user "${USER}" differ: ${users.trim()}, ${groups.trim()}`);
    }
    const space = parseSubIds(users, idsPerPod);
    const fault = space.ok ? idSpaceFault(space.value, maxPods) : undefined;
    return fault === undefined ? space : unparsable(`ids of the user "${USER}": ${fault}`);
  } catch (error) {
    if (isProgramMissing(error)) {
      deps.log.v(2)?.info('Could not find executable, default mappings will be used for the user namespaces', {
        executable: PROGRAM,
      });
      return parsed(byDefault);
    }
    return unparsable(`error retrieving additional ids for user "${USER}": ${describeError(error)}`);
  }
}

function listIds({ run = runProgram, clock }: SubIdsDeps, options: readonly string[]): Promise<string> {
  const program = { path: PROGRAM, args: [...options, USER], environment: { PATH: SEARCH_PATH }, input: '' };
  return run(program, { clock, deadlineMs: DEADLINE_MS, signal: new AbortController().signal });
}

function isProgramMissing(error: unknown): boolean {
  return error instanceof Error && hasErrno(error.cause, 'ENOENT');
}
