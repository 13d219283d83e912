import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
const [picture = ''] = page.match(/```mermaid.*?```/s) ?? [];
const inside = picture.split('\n').filter((line) => line.startsWith('    '));
const nodes = inside.flatMap((line) => [...line.matchAll(/([\w-]+)\[/g)].map(([, name = '']) => name));

test('the picture of the architecture has every directory of src, and none that is not there', () => {
  // Above the parts, outside the frames.
  const outside = ['compose'];
  const directories = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) => !outside.includes(name));
  // Not directories of src, but pure code within them.
  const within = ['rules', 'spec'];
  assert.deepEqual(nodes.filter((name) => !within.includes(name)).sort(), directories.sort());
});

test('every file of the composition root is in its table, and none that is not there', () => {
  const files = globSync('*.ts', { cwd: join(root, 'src/compose') }).filter((file) => !file.endsWith('.test.ts'));
  const [, section = ''] = page.split('## The composition root');
  const rows = section.split('\n## ')[0]?.match(/^\| `.*?\|/gm) ?? [];
  const named = rows.flatMap((row) => [...row.matchAll(/`([\w-]+\.ts)`/g)].map(([, file = '']) => file));
  assert.deepEqual(named.sort(), files.sort());
});
