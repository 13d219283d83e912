import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createSilentLogger } from '../../base/logger.ts';
import { createFileCalls } from '../../host/file-calls.ts';
import { createGuardedFiles } from '../../host/guarded-files.ts';
import { keepLogSmall, type RotateDeps } from './rotate.ts';
import { shrinkLog } from './trim.ts';

const never = new AbortController().signal;

function depsOf(directory: string): RotateDeps {
  return {
    log: createSilentLogger(),
    files: createGuardedFiles(createFileCalls()),
    podLogs: directory,
    reopen: () => {
      writeFileSync(join(directory, '0.log'), 'new\n');
      return Promise.resolve();
    },
    stamp: () => '20260104-000000',
    maxSize: 4n,
    maxFiles: 4,
  };
}

function createPlace(t: TestContext, more: Partial<RotateDeps> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'rotate-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, '0.log');
  const deps: RotateDeps = { ...depsOf(directory), ...more };
  return { directory, path, rotate: () => keepLogSmall(deps, { containerId: 'id', path }, never) };
}

test('a log is rotated when it has reached its size, not before', async (t) => {
  const { directory, path, rotate } = createPlace(t);
  writeFileSync(path, 'one');
  await rotate();
  assert.deepEqual(readdirSync(directory), ['0.log']);
  writeFileSync(path, 'four');
  await rotate();
  assert.equal(readFileSync(join(directory, '0.log.20260104-000000'), 'utf8'), 'four');
  assert.equal(readFileSync(path, 'utf8'), 'new\n');
});

test('the one before is compressed, mode and content kept', async (t) => {
  const { directory, path, rotate } = createPlace(t);
  writeFileSync(path, 'four');
  writeFileSync(join(directory, '0.log.20260103-000000'), 'before\n', { mode: 0o640 });
  writeFileSync(join(directory, '0.log.20260102-000000.tmp'), 'half');
  await rotate();
  assert.deepEqual(readdirSync(directory), ['0.log', '0.log.20260103-000000.gz', '0.log.20260104-000000']);
  const compressed = join(directory, '0.log.20260103-000000.gz');
  assert.equal(gunzipSync(readFileSync(compressed)).toString(), 'before\n');
  assert.equal((statSync(compressed).mode & 0o777).toString(8), '640');
});

test('a runtime that did not open a new file gets the old one back', async (t) => {
  const { directory, path, rotate } = createPlace(t, { reopen: () => Promise.reject(new Error('away')) });
  writeFileSync(path, 'four');
  await assert.rejects(rotate(), /away/);
  assert.deepEqual(readdirSync(directory), ['0.log']);
  assert.equal(readFileSync(path, 'utf8'), 'four');
});

test('a new file is not lost when only the answer was', async (t) => {
  const { directory, path, rotate } = createPlace(t, {
    reopen: () => {
      writeFileSync(path, 'after');
      return Promise.reject(new Error('deadline'));
    },
  });
  writeFileSync(path, 'before');
  await assert.rejects(rotate(), /deadline/);
  assert.equal(readFileSync(path, 'utf8'), 'after');
  assert.equal(readFileSync(join(directory, '0.log.20260104-000000'), 'utf8'), 'before');
});

test('a log that is missing is opened again', async (t) => {
  const { path, rotate } = createPlace(t);
  await rotate();
  assert.ok(existsSync(path));
});

test('a file that can not be compressed does not keep the log from being rotated', async (t) => {
  const { directory, path, rotate } = createPlace(t);
  writeFileSync(path, 'four');
  // A directory can't be read as a file, even by root.
  mkdirSync(join(directory, '0.log.20260103-000000'));
  await rotate();
  assert.equal(readFileSync(path, 'utf8'), 'new\n');
  assert.ok(existsSync(join(directory, '0.log.20260104-000000')));
  assert.equal(
    readdirSync(directory).some((name) => name.endsWith('.tmp')),
    false,
  );
});

test('links, pipes and names that a container put beside a log lead nowhere', { timeout: 120_000 }, async (t) => {
  const warned: unknown[] = [];
  const log = {
    ...createSilentLogger(),
    warn: (_: string, values?: Readonly<Record<string, unknown>>) => void warned.push(values?.['err']),
  };
  const { directory, path, rotate } = createPlace(t, { log });
  const precious = `${directory}-precious`;
  writeFileSync(precious, 'years of work');
  t.after(() => rmSync(precious));
  const isSafe = () => readFileSync(precious, 'utf8') === 'years of work';
  writeFileSync(path, 'four');
  symlinkSync(precious, join(directory, '0.log.20260103-000000'));
  // In the way of what is compressed: made when the leftovers were removed.
  const reopen = () => {
    symlinkSync(precious, join(directory, '0.log.20260102-000000.tmp'));
    writeFileSync(path, 'new\n');
    return Promise.resolve();
  };
  writeFileSync(join(directory, '0.log.20260102-000000'), 'before\n');
  execFileSync('mkfifo', [join(directory, '0.log.20260101-000000')]);
  await keepLogSmall({ ...depsOf(directory), log, reopen, maxFiles: 10 }, { containerId: 'id', path }, never);
  assert.ok(isSafe());
  assert.deepEqual(warned.map((error) => /EEXIST|is not a regular file/.exec(String(error))?.[0]).sort(), [
    'EEXIST',
    'is not a regular file',
    'is not a regular file',
  ]);
  assert.equal(readFileSync(join(directory, '0.log.20260102-000000'), 'utf8'), 'before\n', 'it is still there');
  rmSync(path);
  symlinkSync(precious, path);
  await assert.rejects(rotate(), /is not a regular file/);
  assert.ok(isSafe());
});

test('on a node short of disk the end of what was written too fast is kept, from a whole line on', async (t) => {
  const { directory, path } = createPlace(t);
  const deps: RotateDeps = { ...depsOf(directory), maxSize: 100n };
  const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}\n`).join('');
  writeFileSync(path, lines(1000), { mode: 0o640 });
  const older = join(directory, '0.log.20260103-000000');
  writeFileSync(older, lines(30));
  writeFileSync(join(directory, '0.log.20260102-000000.gz'), 'x'.repeat(1000));
  await shrinkLog(deps, { containerId: 'id', path }, never);
  const rotated = join(directory, '0.log.20260104-000000');
  assert.equal(readFileSync(rotated, 'utf8'), lines(1000).slice(-99), 'eleven lines of nine bytes');
  assert.equal((statSync(rotated).mode & 0o777).toString(8), '640');
  assert.equal(gunzipSync(readFileSync(`${older}.gz`)).toString(), lines(30).slice(-96), 'before it was compressed');
  assert.equal(readFileSync(path, 'utf8'), 'new\n');
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.endsWith('.tmp')),
    [],
  );
});

test('a log that is not far beyond its size loses nothing on a node short of disk', async (t) => {
  const { directory, path } = createPlace(t);
  writeFileSync(path, '12345678');
  await shrinkLog(depsOf(directory), { containerId: 'id', path }, never);
  assert.equal(readFileSync(join(directory, '0.log.20260104-000000'), 'utf8'), '12345678');
});
