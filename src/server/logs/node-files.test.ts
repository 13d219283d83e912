import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createFileCalls } from '../../host/file-calls.ts';
import { createGuardedFiles } from '../../host/guarded-files.ts';
import { openNodeFile } from './node-files.ts';

const files = createGuardedFiles(createFileCalls());
const place = mkdtempSync(join(tmpdir(), 'node-files-'));
after(() => rmSync(place, { recursive: true }));
const root = join(place, 'log');
mkdirSync(join(root, 'pods/x'), { recursive: true });
mkdirSync(join(root, 'containers'));
mkdirSync(join(place, 'log-other'));
writeFileSync(join(place, 'secret'), 'secret');
writeFileSync(join(place, 'log-other/secret'), 'secret');
writeFileSync(join(root, 'a.log'), 'a');
writeFileSync(join(root, 'pods/x/0.log'), 'zero');
// As the links to the logs of containers are: whole paths.
symlinkSync(join(root, 'pods/x/0.log'), join(root, 'containers/x.log'));
symlinkSync('../secret', join(root, 'up'));
symlinkSync(join(place, 'secret'), join(root, 'away'));
symlinkSync(place, join(root, 'directory-away'));
symlinkSync('/proc/self/environ', join(root, 'proc'));
symlinkSync('loop', join(root, 'loop'));
execFileSync('mkfifo', [join(root, 'pipe')]);

for (const [path, expected] of [
  ['a.log', 'a'],
  ['/a.log', 'a'],
  ['containers/x.log', 'zero'],
  ['pods/../a.log', 'a'],
  ['up', 'missing'],
  ['away', 'missing'],
  ['directory-away/secret', 'missing'],
  ['../secret', 'missing'],
  ['../log-other/secret', 'missing'],
  ['pods/../../secret', 'missing'],
  ['/etc/passwd', 'missing'],
  ['proc', 'missing'],
  ['loop', 'missing'],
  ['pipe', 'missing'],
  ['a.log/', 'missing'],
  ['a.log/x', 'missing'],
  ['a.log\0', 'missing'],
  ['x'.repeat(5000), 'missing'],
  ['nothing', 'missing'],
] as const) {
  test(`${JSON.stringify(path.slice(0, 40))} is ${expected}`, { timeout: 120_000 }, async () => {
    const found = await openNodeFile(files, root, path);
    if (found.kind !== 'file') {
      assert.equal(found.kind, expected);
      return;
    }
    const text = await found.handle.readFile('utf8');
    await found.handle.close();
    assert.deepEqual([text, text.length], [expected, found.size]);
  });
}

test('a directory is served as a list of names', async () => {
  assert.deepEqual(await openNodeFile(files, root, 'pods'), { kind: 'directory', names: ['x/'] });
  const top = await openNodeFile(files, root, '');
  assert.deepEqual(top, {
    kind: 'directory',
    names: ['a.log', 'away', 'containers/', 'directory-away', 'loop', 'pipe', 'pods/', 'proc', 'up'],
  });
});
