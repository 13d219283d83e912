import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHierarchies } from '../../../tools/machine/cgroup-trees.ts';
import { bootScript, readyUnit, unitsToMask } from '../system/boot.ts';

test('of what targets pull in only the journal, D-Bus and logind stay', () => {
  const pulledIn = new Map([
    ['sysinit.target.wants', ['systemd-journald.service', 'systemd-sysctl.service', 'dev-hugepages.mount']],
    ['multi-user.target.wants', ['dbus.service', 'systemd-logind.service', 'getty.target']],
  ]);
  const masked = unitsToMask(pulledIn);
  for (const unit of ['systemd-sysctl.service', 'dev-hugepages.mount', 'getty.target'])
    assert.ok(masked.includes(unit));
  for (const unit of ['systemd-journald.service', 'dbus.service', 'systemd-logind.service']) {
    assert.ok(!masked.includes(unit));
  }
});

test('the system is ready only with every unit that was asked for', () => {
  const text = readyUnit(['a.service', 'b.service'], '/log');
  assert.match(text, /^Requires=a\.service b\.service$/m);
  assert.match(text, /^After=a\.service b\.service$/m);
});

test('cgroups are mounted before the disk, on a sysfs of the own network', () => {
  const hierarchies = parseHierarchies('cgroup2 /sys/fs/cgroup cgroup2 rw,relatime 0 0\n');
  const script = bootScript(hierarchies, 'node-a', []);
  const order = ['mount -t proc', 'mount -t sysfs', 'mount -t cgroup2', 'mount -o loop', 'exec env -i'];
  const places = order.map((text) => script.indexOf(text));
  assert.ok(!places.includes(-1));
  assert.deepEqual(
    places,
    [...places].sort((a, b) => a - b),
  );
  assert.match(script, /^hostname node-a$/m);
});
