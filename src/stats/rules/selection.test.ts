import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EVERYTHING, isSelected, isShown, needsProcesses, type Selection } from './selection.ts';

const lean: Selection = { ...EVERYTHING, profile: 'lean' };

describe('the families that are shown', () => {
  for (const [selection, family, expected] of [
    [EVERYTHING, 'container_sockets', true],
    [lean, 'container_sockets', false],
    [lean, 'container_cpu_usage_seconds_total', true],
    [lean, 'container_pressure_cpu_waiting_seconds_total', true],
    [{ ...EVERYTHING, allow: ['container_cpu_*'] }, 'container_cpu_usage_seconds_total', true],
    [{ ...EVERYTHING, allow: ['container_cpu_*'] }, 'container_memory_rss', false],
    [{ ...lean, allow: ['container_sockets'] }, 'container_sockets', true],
    [{ ...EVERYTHING, deny: ['container_fs_*'] }, 'container_fs_reads_total', false],
    [
      { ...EVERYTHING, allow: ['container_fs_*'], deny: ['container_fs_reads_total'] },
      'container_fs_reads_total',
      false,
    ],
    [{ ...EVERYTHING, deny: ['*'] }, 'machine_memory_bytes', false],
  ] as const) {
    it(`${family} by ${JSON.stringify(selection)}: ${expected}`, () =>
      assert.equal(isSelected(selection, family), expected));
  }

  it('have no sandboxes and pods in the lean profile, but the network of sandboxes', () => {
    assert.ok(isShown(lean, { kind: 'sandbox' }, 'container_network_receive_bytes_total'));
    assert.ok(!isShown(lean, { kind: 'sandbox' }, 'container_memory_rss'));
    assert.ok(!isShown(lean, { kind: 'pod' }, 'container_memory_rss'));
    assert.ok(
      isShown(lean, { kind: 'container' }, 'container_memory_rss') && isShown(EVERYTHING, { kind: 'pod' }, 'x'),
    );
  });

  it('decide whether each process is looked at', () => {
    assert.ok(needsProcesses(EVERYTHING));
    assert.ok(!needsProcesses(lean));
    assert.ok(needsProcesses({ ...lean, allow: ['container_threads*'] }));
  });
});
