/** iptables: its programs, each run as a child that can be killed, and what the kernel announces of nftables. */
import { closeSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { CodedError, codeOf } from '../base/errors.ts';
import { withDeadline } from '../base/signal.ts';
import type { Readiness } from './event-loop.ts';
import { type NftablesDeletion, nftablesDeletions } from './nftables-messages.ts';
import { type RunProgram, runProgram } from './program.ts';
import { streamProgram } from './streamed-program.ts';
import type { Syscalls } from './syscalls.ts';

export type IpFamily = 4 | 6;

export interface PacketFilter {
  /** What `iptables --version` prints; undefined: this machine has no such program. */
  version(family: IpFamily, signal: AbortSignal): Promise<string | undefined>;
  /** The rules of a chain as `iptables -S` prints them; undefined: there is no such chain. */
  rules(family: IpFamily, table: string, chain: string, signal: AbortSignal): Promise<readonly string[] | undefined>;
  /** Applies the input of `iptables-restore` to each table at once, and leaves everything else as it is. */
  restore(family: IpFamily, input: string, signal: AbortSignal): Promise<void>;
  /**
   * Calls `listener` with each rule, chain or table of nftables that is deleted in this network namespace, by any program; with
   * undefined where something may have been missed. Throws where the kernel has no such events or refuses them.
   */
  watch(listener: (deleted: NftablesDeletion | undefined) => void): { close(): void };
}

export interface PacketFilterDeps {
  readonly clock: Clock;
  /** Where the programs are searched for first; the system's own directories follow. */
  readonly searchPath: string | undefined;
}

const SYSTEM_DIRECTORIES = '/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin';
/** Other programs hold the lock of the legacy tables for moments only. */
const LOCK_SECONDS = '5';
const DEADLINE_MS = 30_000;
/** Of one chain; more is not one of those that the kubelet uses. */
const MOST_RULES_BYTES = 1024 * 1024;
const NO_SUCH_CHAIN = 1;
const EVENT_BYTES = 64 * 1024;
const MOST_EVENTS_AT_ONCE = 32;

const PROGRAMS = { 4: 'iptables', 6: 'ip6tables' } as const;

export function createPacketFilter(
  { clock, searchPath }: PacketFilterDeps,
  kernel: { readonly syscalls: Syscalls; readonly readiness: Readiness },
  run: RunProgram = runProgram,
): PacketFilter {
  const environment = { PATH: [searchPath, SYSTEM_DIRECTORIES].filter(Boolean).join(':') };
  return {
    version: async (family, signal) => {
      const program = { path: PROGRAMS[family], args: ['--version'], environment, input: '' };
      try {
        return (await run(program, { clock, deadlineMs: DEADLINE_MS, signal })).trim();
      } catch (error) {
        if (codeOf(error) === 'unavailable') return undefined;
        throw error;
      }
    },

    rules: async (family, table, chain, signal) => {
      const args = ['--wait', LOCK_SECONDS, '--table', table, '--list-rules', chain];
      using limit = withDeadline(clock, DEADLINE_MS, PROGRAMS[family], signal);
      const chunks: Buffer[] = [];
      const take = (bytes: Buffer) => {
        chunks.push(bytes);
        if (chunks.reduce((sum, { length }) => sum + length, 0) > MOST_RULES_BYTES) {
          throw new CodedError('exhausted', `chain ${chain} of ${table} is too long`);
        }
      };
      const code = await streamProgram({ path: PROGRAMS[family], args, environment }, take, limit.signal);
      const text = Buffer.concat(chunks).toString('utf8');
      if (code === NO_SUCH_CHAIN) return undefined;
      if (code !== 0)
        throw new CodedError('internal', `${PROGRAMS[family]} ${args.join(' ')} ended with code ${code}: ${text}`);
      return text.split('\n').filter((line) => line.startsWith('-A '));
    },

    restore: async (family, input, signal) => {
      const args = ['--wait', LOCK_SECONDS, '--noflush'];
      const program = { path: `${PROGRAMS[family]}-restore`, args, environment, input };
      await run(program, { clock, deadlineMs: DEADLINE_MS, signal });
    },

    watch: (listener) => watchNftables(kernel, listener),
  };
}

function watchNftables(
  { syscalls, readiness }: { readonly syscalls: Syscalls; readonly readiness: Readiness },
  listener: (deleted: NftablesDeletion | undefined) => void,
): { close(): void } {
  const fd = syscalls.openNftablesEvents();
  const buffer = Buffer.allocUnsafeSlow(EVENT_BYTES);
  const wait = readiness.watch(fd, 'readable', () => {
    for (let taken = 0; taken < MOST_EVENTS_AT_ONCE; taken += 1) {
      const received = syscalls.receive(fd, buffer);
      if (received !== undefined)
        for (const one of nftablesDeletions(buffer.subarray(0, received.bytes))) listener(one);
      // Readable, and nothing to read: the kernel has dropped what it had no room for.
      else if (taken === 0) listener(undefined);
      if (received === undefined) return;
    }
  });
  return {
    close: () => {
      wait.close();
      closeSync(fd);
    },
  };
}
