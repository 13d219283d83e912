import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { test } from 'node:test';
import { createSystemClock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import { createReadiness } from './event-loop.ts';
import { nftablesDeletions } from './nftables-messages.ts';
import { createPacketFilter } from './packet-filter.ts';
import { createSyscalls } from './syscalls.ts';

/** The real programs, in a network namespace that ends with the process. */
function inOwnNetwork(backend: string) {
  const directory = mkdtempSync(join(tmpdir(), 'packet-filter-'));
  try {
    for (const name of ['iptables', 'ip6tables', 'iptables-restore', 'ip6tables-restore']) {
      const [base, ...rest] = name.split('-');
      symlinkSync(join('/usr/sbin', [base, backend, ...rest].join('-')), join(directory, name));
    }
    const program = join(import.meta.dirname, 'packet-filter-main-testing.ts');
    const args = ['--net', execPath, '--disable-warning=ExperimentalWarning', program, `iptables-${backend}`];
    const options = { env: { ...process.env, SEARCH_PATH: directory }, encoding: 'utf8', timeout: 120_000 } as const;
    return JSON.parse(execFileSync('unshare', args, options));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const RULE = '-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "a b" -j DROP';

for (const [backend, name] of [
  ['nft', 'nf_tables'],
  ['legacy', 'legacy'],
] as const) {
  test(`chains are read and restored with ${backend}`, () => {
    const result = inOwnNetwork(backend);
    assert.match(result.version, new RegExp(String.raw`^ip6tables v\S+ \(${name}\)$`));
    assert.deepEqual([result.missing, result.made, result.jump], ['none', [RULE], ['-A INPUT -j KUBE-FIREWALL']]);
    assert.deepEqual(result.flushed, []);
    assert.match(result.refused, /iptables-restore ended with code/);
    if (backend === 'legacy') return;
    const deleted = result.seen.map(({ table, chain }: { table: string; chain: string }) => `${table} ${chain}`);
    assert.ok(deleted.includes('filter KUBE-FIREWALL') && deleted.includes('filter INPUT'), deleted.join());
  });
}

test('a machine without the program has no version', async () => {
  const gone = () => Promise.reject(new CodedError('unavailable', "iptables can't be run"));
  const kernel = { syscalls: createSyscalls(), readiness: createReadiness() };
  const filter = createPacketFilter({ clock: createSystemClock(), searchPath: undefined }, kernel, gone);
  assert.equal(await filter.version(4, new AbortController().signal), undefined);
});

test('messages that are cut or no deletions are left out', () => {
  assert.deepEqual(nftablesDeletions(Buffer.from('nothing that the kernel would send')), []);
  assert.deepEqual(nftablesDeletions(Buffer.alloc(64)), []);
  const header = Buffer.alloc(20);
  header.writeUInt32LE(20, 0);
  header.writeUInt16LE((10 << 8) | 8, 4);
  assert.deepEqual(nftablesDeletions(header), [{ table: '', chain: undefined }]);
  assert.deepEqual(nftablesDeletions(header.subarray(0, 19)), []);
});
