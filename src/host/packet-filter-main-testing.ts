/**
 * Run inside a network namespace of its own by packet-filter.test.ts: makes the kubelet's chains with the real programs, has them flushed by
 * another program, and prints what it has seen.
 */
import { execFileSync } from 'node:child_process';
import { argv, env, stdout } from 'node:process';
import { createSystemClock } from '../base/clock.ts';
import { createHost } from './host.ts';

const [, , prefix = 'iptables'] = argv;
const clock = createSystemClock();
const filter = createHost().network.packetFilter({ clock, searchPath: env['SEARCH_PATH'] });
const { signal } = new AbortController();
const INPUT = `*filter
:KUBE-FIREWALL - [0:0]
-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "a b" -j DROP
-I INPUT -j KUBE-FIREWALL
COMMIT
`;

const seen: unknown[] = [];
const watching = filter.watch((deleted) => void seen.push(deleted));
const missing = await filter.rules(4, 'filter', 'KUBE-FIREWALL', signal);
await filter.restore(4, INPUT, signal);
const made = await filter.rules(4, 'filter', 'KUBE-FIREWALL', signal);
const jump = await filter.rules(4, 'filter', 'INPUT', signal);
execFileSync(prefix, ['-F']);
const flushed = await filter.rules(4, 'filter', 'KUBE-FIREWALL', signal);
const isLegacy = prefix.includes('legacy');
for (let tries = 0; !isLegacy && seen.length < 2 && tries < 600; tries += 1) await clock.sleep(100, signal);
watching.close();
const refused = await filter.restore(4, '*filter\n-A NOWHERE -j DROP\nCOMMIT\n', signal).catch(String);
stdout.write(
  JSON.stringify({
    version: await filter.version(6, signal),
    missing: missing ?? 'none',
    made,
    jump,
    flushed,
    seen,
    refused,
  }),
);
