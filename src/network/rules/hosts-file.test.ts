import assert from 'node:assert/strict';
import { test } from 'node:test';
import { managedHosts, nodeHosts } from './hosts-file.ts';

test('every address of the pod gets its names', () => {
  const file = managedHosts({
    podIps: ['10.0.0.7', 'fd00::7'],
    hostname: 'box',
    domain: 'sub.example',
    aliases: undefined,
  });
  assert.deepEqual(file.split('\n').slice(-3), ['10.0.0.7\tbox.sub.example\tbox', 'fd00::7\tbox.sub.example\tbox', '']);
  const none = managedHosts({ podIps: [], hostname: 'box', domain: '', aliases: [] });
  assert.equal(none.split('\n').at(-2), 'fe00::2\tip6-allrouters');
});

test('aliases stand below, also below the file of the node', () => {
  const aliases = [{ ip: '192.0.2.7', hostnames: ['one.example', 'uno'] }, { ip: '192.0.2.8' }];
  const tail = '\n# Entries added by HostAliases.\n192.0.2.7\tone.example\tuno\n192.0.2.8\t\n';
  assert.equal(
    nodeHosts('127.0.0.1 vm\n', aliases),
    `# Kubernetes-managed hosts file (host network).\n127.0.0.1 vm\n${tail}`,
  );
  assert.ok(managedHosts({ podIps: [], hostname: 'h', domain: '', aliases }).endsWith(tail));
});
