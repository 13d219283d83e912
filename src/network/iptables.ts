/**
 * Keeps the kubelet's chains of iptables (`makeIPTablesUtilChains`) for IPv4 and IPv6. On nftables the kernel announces what is deleted, so that a
 * flush is mended at once; the legacy tables announce nothing and are read once a minute. See docs/node.md.
 */
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import { withDeadline } from '../base/signal.ts';
import type { Supervisor } from '../base/supervise.ts';
import { createWakeBit } from '../base/wake.ts';
import {
  chainsToRead,
  concerns,
  type IpFamily,
  type MarkBits,
  missingLines,
  type PacketTable,
  packetTables,
} from './rules/iptables.ts';

/** See `host/packet-filter.ts`. */
export interface PacketFilterPort {
  version(family: IpFamily, signal: AbortSignal): Promise<string | undefined>;
  rules(family: IpFamily, table: string, chain: string, signal: AbortSignal): Promise<readonly string[] | undefined>;
  restore(family: IpFamily, input: string, signal: AbortSignal): Promise<void>;
  watch(listener: (deleted: { readonly table: string; readonly chain: string | undefined } | undefined) => void): {
    close(): void;
  };
}

export interface IptablesDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Pick<Supervisor, 'run'>;
  readonly filter: PacketFilterPort;
}

export interface IptablesConfig {
  /** `makeIPTablesUtilChains`. */
  readonly enabled: boolean;
  readonly bits: MarkBits;
}

/** As often as the reference looks for its canary. */
const READ_AGAIN_MS = 60_000;
/** Where the kernel announces changes: only for what was announced while no one listened. */
const WATCHED_READ_AGAIN_MS = 10 * 60_000;
/** A program that replaces its rules deletes many at a time, and a flush is over before it is mended. */
const SETTLE_MS = 200;

type Family = { readonly family: IpFamily; readonly backend: string; readonly tables: readonly PacketTable[] };

export function createIptables({ clock, log, supervisor, filter }: IptablesDeps, config: IptablesConfig): Part {
  const wake = createWakeBit();
  let running: Promise<void> | undefined;
  let kept: { readonly keepers: readonly Keeper[]; readonly readAgainMs: number } | undefined;

  const begin = async (signal: AbortSignal) => {
    const families = await findFamilies(filter, config.bits, signal);
    if (families.length === 0)
      log.info('No iptables support on this system; not creating the KUBE-IPTABLES-HINT chain');
    // The legacy tables announce nothing.
    const isWatched = families.every(({ backend }) => backend === 'nf_tables') && watch(families, signal);
    return {
      keepers: families.map((family) => createKeeper(family, { log, filter })),
      readAgainMs: isWatched ? WATCHED_READ_AGAIN_MS : READ_AGAIN_MS,
    };
  };

  /** Whether the kernel announces what is deleted. */
  const watch = (families: readonly Family[], signal: AbortSignal): boolean => {
    try {
      const watching = filter.watch((deleted) => {
        if (deleted === undefined || families.some(({ tables }) => concerns(tables, deleted))) wake.wake();
      });
      signal.addEventListener('abort', watching.close, { once: true });
      return true;
    } catch (err) {
      log.info('Changes of nftables are not announced: iptables rules are read once a minute', { err });
      return false;
    }
  };

  const pass = async (signal: AbortSignal): Promise<void> => {
    kept ??= await begin(signal);
    for (const keep of kept.keepers) await keep(signal);
  };

  const rest = async (signal: AbortSignal): Promise<void> => {
    using pause = withDeadline(clock, kept?.readAgainMs ?? READ_AGAIN_MS, 'iptables rules', signal);
    await wake.wait(pause.signal).catch(() => signal.throwIfAborted());
    await clock.sleep(SETTLE_MS, signal);
  };

  return {
    name: 'iptables rules',
    start: (signal) => {
      if (!config.enabled) return;
      running = supervisor.run(
        { name: 'iptables rules', pass, rest, isDone: () => kept?.keepers.length === 0 },
        signal,
      );
    },
    stop: () => running,
  };
}

/** Those for which the machine has the program. */
async function findFamilies(filter: PacketFilterPort, bits: MarkBits, signal: AbortSignal): Promise<readonly Family[]> {
  const found = await Promise.all(
    ([4, 6] as const).map(async (family) => {
      const version = await filter.version(family, signal);
      const backend = version === undefined ? undefined : (/\((.*)\)/.exec(version)?.[1] ?? 'legacy');
      return backend === undefined ? [] : [{ family, backend, tables: packetTables(family, bits) }];
    }),
  );
  return found.flat();
}

type Keeper = (signal: AbortSignal) => Promise<void>;

/** One pass for a family. What goes wrong is logged once, until it goes well again: a kernel without IPv6 stays so. */
function createKeeper(
  { family, backend, tables }: Family,
  { log, filter }: Pick<IptablesDeps, 'log' | 'filter'>,
): Keeper {
  const protocol = family === 4 ? 'IPv4' : 'IPv6';
  let state: 'new' | 'kept' | 'failed' = 'new';
  return async (signal) => {
    try {
      const lines: string[] = [];
      for (const table of tables) lines.push(...(await missingIn(filter, family, table, signal)));
      if (lines.length > 0) await filter.restore(family, `${lines.join('\n')}\n`, signal);
      if (state !== 'kept') log.info('Initialized iptables rules.', { protocol, backend });
      else if (lines.length > 0) log.info('Restored iptables rules that were removed', { protocol, rules: lines });
      state = 'kept';
    } catch (err) {
      if (signal.aborted) return;
      const problem = 'Failed to initialize iptables rules; some functionality may be missing.';
      if (state !== 'failed') log.info(problem, { protocol, backend, err });
      state = 'failed';
    }
  };
}

async function missingIn(filter: PacketFilterPort, family: IpFamily, table: PacketTable, signal: AbortSignal) {
  const chains = new Map<string, readonly string[] | undefined>();
  for (const chain of chainsToRead(table)) chains.set(chain, await filter.rules(family, table.name, chain, signal));
  return missingLines(table, chains);
}
