import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeFileAccess } from './file-access.ts';

const judge = (code: string, file = 'server/logs/log-files.ts') =>
  judgeFileAccess(file, code, { 'main.ts': 'a reason' });

test('a file that opens paths needs a reason', () => {
  for (const code of [
    "import { open } from 'node:fs/promises';",
    "import { type FileHandle, readdir as list } from 'node:fs/promises';",
    "import {\n  closeSync,\n  createReadStream,\n} from 'node:fs';",
    "import { lstat } from 'node:fs/promises';\nimport { readFileSync } from 'node:fs';",
    "import { rm } from 'node:fs/promises';",
  ]) {
    assert.match(judge(code).join(), /guarded-files/, code);
    assert.deepEqual(judge(code, 'main.ts'), []);
    assert.deepEqual(judge(code, 'server/testing.ts'), []);
  }
});

test('what opens nothing needs none, and a reason that is not needed goes', () => {
  const code =
    "import type { FileHandle } from 'node:fs/promises';\nimport { closeSync, lstatSync, type Stats } from 'node:fs';";
  assert.deepEqual(judge(code), []);
  assert.match(judge(code, 'main.ts').join(), /opens nothing/);
});

test('functions are imported by name, so that they are seen', () => {
  for (const code of [
    "import fs from 'node:fs';",
    "import * as fs from 'node:fs/promises';",
    "const { open } = await import('node:fs/promises');",
    "const fs = require('fs');",
  ]) {
    assert.match(judge(code).join(), /as a whole/, code);
  }
});
