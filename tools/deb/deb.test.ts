import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { defaultConfigurable } from '../../src/config/config.ts';
import { flagTable } from '../../src/config/flags/table.ts';
import { renderCompletion } from './completion.ts';
import { debianArchitecture, renderControl } from './control.ts';
import { renderManPage } from './man-page.ts';

test('the manual page has every flag with its default, in plain ASCII', () => {
  const page = renderManPage(flagTable, defaultConfigurable(), '1.2.3');
  for (const { name } of flagTable) assert.ok(page.includes(`\\-\\-${name.replaceAll('-', '\\-')}\\fR`), name);
  assert.match(page, /^Directory for volumes, .* \[\/var\/lib\/kubelet\]$/m);
  assert.match(page, /^[\n -~]*$/);
  const commands = page.split('\n').filter((line) => line.startsWith('.'));
  assert.deepEqual([...new Set(commands.map((line) => line.split(' ')[0]))].sort(), [
    ...['.B', '.BR', '.I', '.PP', '.RI', '.SH', '.SS', '.TH', '.TP'],
  ]);
});

test('bash completes flags, and paths after flags that take one', () => {
  const script = `${renderCompletion(flagTable)}
    complete_for() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _kubelet; echo "\${COMPREPLY[*]}"; }
    complete_for kubelet --kubec
    complete_for kubelet --config /etc/hostn
    complete_for kubelet --node-ip 1`;
  assert.equal(execFileSync('bash', ['-c', script], { encoding: 'utf8' }), '--kubeconfig\n/etc/hostname\n\n');
});

test('the package says what it is and what it stands for', () => {
  const control = renderControl({ version: '0.1.0', kubernetes: 'v1.36.4', architecture: 'amd64', installedKib: 9 });
  assert.match(control, /^Provides: kubelet \(= 1\.36\.4\)$/m);
  assert.match(control, /^Version: 0\.1\.0$/m);
  assert.equal(debianArchitecture('x64'), 'amd64');
});
