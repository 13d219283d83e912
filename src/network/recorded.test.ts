/** What the recorded containers saw in /etc/hosts, /etc/resolv.conf and their host name. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadLives } from '../../tests/recorded/lives.ts';
import { network, podIps } from '../../tests/recorded/node.ts';
import type { DnsConfig } from './rules/resolv-conf.ts';

/** The file that containerd makes of the settings; options as a set, since the reference gives them in random order. */
function resolvConfOf({ servers, searches, options }: DnsConfig): readonly string[] {
  return [
    ...(searches.length === 0 ? [] : [`search ${searches.join(' ')}`]),
    ...servers.map((server) => `nameserver ${server}`),
    ...(options.length === 0 ? [] : [sortedOptions(`options ${options.join(' ')}`)]),
  ];
}

function sortedOptions(line: string): string {
  if (!line.startsWith('options ')) return line;
  return `options ${line.split(' ').slice(1).sort().join(' ')}`;
}

describe('recorded names', () => {
  const seen = loadLives().flatMap((life) =>
    Object.entries(life.inside).map(([container, inside]) => ({ life, container, inside })),
  );
  assert.ok(seen.length > 30, 'the recordings are there');
  for (const { life, container, inside } of seen) {
    test(`${life.name}, container ${container}`, async () => {
      const hosts = await network.hostsFileOf(life.pod, podIps(life));
      assert.ok(hosts.ok);
      assert.equal(hosts.value, inside.hosts);

      const dns = await network.dnsOf(life.pod);
      assert.ok(dns.ok);
      assert.deepEqual(resolvConfOf(dns.value.config), inside.resolv.trimEnd().split('\n').map(sortedOptions));

      const name = network.hostnameOf(life.pod);
      assert.ok(name.ok);
      if (!life.pod.spec.hostNetwork) assert.equal(`${name.value.kernelName}\n`, inside.hostname);
    });
  }
});
