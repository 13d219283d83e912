import assert from 'node:assert/strict';
import { test } from 'node:test';
import { envFileValue, readEnvFile } from './env-file.ts';

test('values of a file with variables', () => {
  const cases: readonly { text: string; key: string; want: string | undefined }[] = [
    { text: "A='1'\n", key: 'A', want: '1' },
    { text: "A='1'", key: 'B', want: undefined },
    { text: '', key: 'A', want: undefined },
    { text: "# A='0'\n\n  \t\n\tA='1'\r\n", key: 'A', want: '1' },
    { text: 'A=\'a $(B) \\n "q"\'', key: 'A', want: 'a $(B) \\n "q"' },
    { text: "A='1' # why\nB='2'", key: 'B', want: '2' },
    { text: "A='one\n two\n'\nB='2'", key: 'A', want: 'one\n two\n' },
    { text: "A='one\ntwo'\nB='2'", key: 'B', want: '2' },
    { text: "A= 'x'\nB='2'", key: 'A', want: '' },
    { text: "A='1'\nA='2'", key: 'A', want: '1' },
    { text: "A='1'\nbroken", key: 'A', want: '1' },
  ];
  for (const { text, key, want } of cases) {
    assert.deepEqual(envFileValue(readEnvFile(text), key), { ok: true, value: want }, JSON.stringify(text));
  }
});

test('what is wrong, and on which line', () => {
  const cases: Readonly<Record<string, string>> = {
    'A\n': "at line 1: missing '='",
    "A='1'\n='2'": 'at line 2: empty variable name',
    "A ='1'": "at line 1: whitespace before '=' is not allowed",
    'A=1': 'at line 1: value must be enclosed in single quotes',
    'A="1"': 'at line 1: value must be enclosed in single quotes',
    "A='1'x": 'at line 1: unexpected content after closing quote',
    "A='1\n2'x": 'at line 2: unexpected content after closing quote',
    "\nA='1\n2\n": 'starting at line 2: unclosed single quote',
  };
  for (const [text, want] of Object.entries(cases)) {
    const problem = `invalid environment variable format ${want}`;
    assert.deepEqual(envFileValue(readEnvFile(text), 'Z'), { ok: false, problem }, JSON.stringify(text));
  }
});
