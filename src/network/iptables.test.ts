import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { createSilentLogger, type Logger, type LogValues } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor, throwOnce } from '../base/supervise-testing.ts';
import { createIptables, type PacketFilterPort } from './iptables.ts';
import { concerns, missingLines, packetTables } from './rules/iptables.ts';

const NO_BITS = { masquerade: undefined, drop: undefined };

/** Tables in memory that take what `iptables-restore --noflush` takes of ours. */
function createTables() {
  const chains = new Map<string, string[]>();
  const builtIn = (chain: string) => /^[A-Z]+$/.test(chain);
  const key = (family: number, table: string, chain: string) => `${family} ${table} ${chain}`;
  return {
    flush: () => chains.clear(),
    rules: (family: number, table: string, chain: string): readonly string[] | undefined =>
      chains.get(key(family, table, chain)) ?? (builtIn(chain) ? [] : undefined),
    restore: (family: number, input: string) => {
      let table = '';
      for (const line of input.split('\n')) {
        const [first = '', second = ''] = line.split(' ');
        if (line.startsWith('*')) table = line.slice(1);
        else if (line.startsWith(':')) chains.set(key(family, table, first.slice(1)), []);
        else if (line.startsWith('-')) {
          const rules = chains.get(key(family, table, second)) ?? [];
          const rule = line.replace(/^-I/, '-A');
          chains.set(key(family, table, second), line.startsWith('-I') ? [rule, ...rules] : [...rules, rule]);
        }
      }
    },
  };
}

interface Options {
  readonly versions?: Readonly<Record<4 | 6, string | undefined>>;
  readonly refuses?: boolean;
}

function setUp(
  t: TestContext,
  { versions = { 4: 'iptables v1.8.9 (nf_tables)', 6: 'ip6tables v1.8.9 (nf_tables)' }, refuses = false }: Options = {},
) {
  const clock = createManualClock();
  const lines: { readonly message: string; readonly values: LogValues | undefined }[] = [];
  const note = (message: string, values?: LogValues) => void lines.push({ message, values });
  const log: Logger = { ...createSilentLogger(), info: note, error: note };
  const tables = createTables();
  const restored: string[] = [];
  let announce: Parameters<PacketFilterPort['watch']>[0] = () => undefined;
  let isFailing = false;
  const filter: PacketFilterPort = {
    version: (family) => Promise.resolve(versions[family]),
    rules: (...[family, table, chain]) => Promise.resolve(tables.rules(family, table, chain)),
    restore: (family, input) => {
      if (isFailing) return Promise.reject(new Error('can not lock'));
      restored.push(input);
      return Promise.resolve(tables.restore(family, input));
    },
    watch: (listener) => {
      if (refuses) throw new Error('no permission');
      announce = listener;
      return { close: () => undefined };
    },
  };
  const supervisor = createTestSupervisor(clock, { beforeRound: throwOnce('iptables rules') });
  const part = createIptables({ clock, log, supervisor, filter }, { enabled: true, bits: NO_BITS });
  const end = new AbortController();
  t.after(() => end.abort());
  part.start(end.signal);
  const messages = () => lines.map(({ message }) => message);
  return {
    ...{ clock, lines, messages, tables, restored },
    announce: (deleted: Parameters<typeof announce>[0]) => announce(deleted),
    fail: (value: boolean) => {
      isFailing = value;
    },
    settle: async () => {
      for (let step = 0; step < 4; step += 1) {
        for (let turn = 0; turn < 200; turn += 1) await Promise.resolve();
        await clock.advance(100);
      }
    },
  };
}

describe('iptables rules', () => {
  it('are made for both families after the loop has failed once', async (t) => {
    const { settle, messages, tables } = setUp(t);
    await settle();
    assert.deepEqual(
      messages().filter((one) => one.startsWith('Initialized')),
      ['Initialized iptables rules.', 'Initialized iptables rules.'],
    );
    assert.deepEqual(tables.rules(4, 'filter', 'INPUT'), ['-A INPUT -j KUBE-FIREWALL']);
    assert.deepEqual([tables.rules(6, 'filter', 'INPUT'), tables.rules(6, 'nat', 'KUBE-KUBELET-CANARY')], [[], []]);
  });

  it('are restored when the kernel announces a flush, and not for chains of others', async (t) => {
    const { settle, announce, tables, restored, messages, clock } = setUp(t);
    await settle();
    announce({ table: 'nat', chain: 'KUBE-SVC-X' });
    await clock.advance(5000);
    await settle();
    assert.equal(restored.length, 2);
    tables.flush();
    announce({ table: 'filter', chain: 'INPUT' });
    await settle();
    assert.equal(tables.rules(4, 'filter', 'KUBE-FIREWALL')?.length, 1);
    assert.equal(messages().filter((one) => one.startsWith('Restored')).length, 2);
  });

  for (const [name, options] of Object.entries({
    'on legacy tables': { versions: { 4: 'iptables v1.8.9 (legacy)', 6: undefined } },
    'where the kernel refuses to announce': { refuses: true },
  })) {
    it(`are read once a minute ${name}`, async (t) => {
      const { settle, tables, clock } = setUp(t, options);
      await settle();
      tables.flush();
      await clock.advance(50_000);
      await settle();
      assert.equal(tables.rules(4, 'filter', 'KUBE-FIREWALL'), undefined);
      await clock.advance(15_000);
      await settle();
      assert.equal(tables.rules(4, 'filter', 'KUBE-FIREWALL')?.length, 1);
    });
  }

  it('that can not be made are reported once, and made later', async (t) => {
    const { settle, fail, messages, tables, clock } = setUp(t, { versions: { 4: 'iptables v1.4', 6: undefined } });
    fail(true);
    await settle();
    await clock.advance(130_000);
    await settle();
    const failures = messages().filter((one) => one.startsWith('Failed to initialize iptables rules'));
    assert.equal(failures.length, 1);
    fail(false);
    await clock.advance(65_000);
    await settle();
    assert.equal(tables.rules(4, 'filter', 'KUBE-FIREWALL')?.length, 1);
  });

  it('are not made on a machine without iptables, which is one line', async (t) => {
    const { settle, messages, clock } = setUp(t, { versions: { 4: undefined, 6: undefined } });
    await settle();
    await clock.advance(600_000);
    assert.deepEqual(messages(), ['No iptables support on this system; not creating the KUBE-IPTABLES-HINT chain']);
  });
});

describe('the rules', () => {
  it('are those that the reference was recorded with', () => {
    const recorded = readFileSync(new URL('testdata/iptables.txt', import.meta.url), 'utf8')
      .trim()
      .split('\n')
      .sort();
    const lines = packetTables(4, NO_BITS).flatMap((table) => missingLines(table, new Map()));
    const made = lines.filter((line) => line !== 'COMMIT').map((line) => line.replace(/^-I/, '-A'));
    assert.deepEqual(made.sort(), recorded);
  });

  it('leave chains that exist, and the rules of others in them, as they are', () => {
    const table = packetTables(4, NO_BITS)[1];
    assert.ok(table);
    const mine = table.rules[0]?.text ?? '';
    const now = new Map([
      ['KUBE-FIREWALL', ['-A KUBE-FIREWALL -j ACCEPT']],
      ['KUBE-KUBELET-CANARY', []],
      ['INPUT', ['-A INPUT -j KUBE-FIREWALL']],
    ]);
    assert.deepEqual(missingLines(table, now), ['*filter', mine, '-I OUTPUT -j KUBE-FIREWALL', 'COMMIT']);
  });

  it('have the chains of older kubelets where their bits are configured', () => {
    const chains = packetTables(6, { masquerade: 14, drop: 15 }).flatMap(({ chains: names }) => names);
    assert.deepEqual(
      new Set(chains),
      new Set([
        'KUBE-IPTABLES-HINT',
        'KUBE-KUBELET-CANARY',
        'KUBE-FIREWALL',
        'KUBE-MARK-DROP',
        'KUBE-MARK-MASQ',
        'KUBE-POSTROUTING',
      ]),
    );
    const nat = packetTables(4, { masquerade: 14, drop: undefined })[2];
    assert.ok(nat?.rules.some(({ text }) => text === '-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000'));
  });

  it('are concerned by a whole table that goes', () => {
    const tables = packetTables(4, NO_BITS);
    assert.equal(concerns(tables, { table: 'nat', chain: undefined }), true);
    assert.equal(concerns(tables, { table: 'raw', chain: undefined }), false);
  });
});
