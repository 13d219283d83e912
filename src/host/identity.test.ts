import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { architecture, osImage, readFirst, systemUuid } from './identity.ts';

describe('who this machine is', () => {
  let directory: string;
  const write = (name: string, text: string) => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'identity-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('is in the first file that there is, without line end and zero bytes', () => {
    assert.equal(readFirst(['/no/such', write('a', ' id-1\n'), write('b', 'id-2')]), 'id-1');
    assert.equal(systemUuid([write('c', 'uuid\0\n')]), 'uuid');
    assert.equal(readFirst(['/no/such']), '');
  });

  for (const [text, name] of [
    ['NAME=x\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n', 'Debian GNU/Linux 12 (bookworm)'],
    ['PRETTY_NAME=Plain\n', 'Plain'],
    ['NAME=x\n', 'Linux'],
  ] as const) {
    it(`is called ${name}`, () => assert.equal(osImage(['/no/such', write('os', text)]), name));
  }
  it('is called Unknown without a word about its system', () => assert.equal(osImage(['/no/such']), 'Unknown'));
  it('has a processor with a name of the world of containers', () =>
    assert.match(architecture(), /^(amd64|arm64|386)$/));
});
