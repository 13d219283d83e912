import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCommand, parsePorts, parseStreams, runCommandOf } from './stream-query.ts';

const NONE = 'you must specify at least 1 of stdin, stdout, stderr';

for (const [query, expected] of [
  ['input=1&output=1&error=1', { stdin: true, stdout: true, stderr: true, tty: false }],
  ['output=1', { stdin: false, stdout: true, stderr: false, tty: false }],
  ['output=1&error=1&tty=1', { stdin: false, stdout: true, stderr: false, tty: true }],
  ['', NONE],
  ['input=true&output=yes', NONE],
  ['tty=1&error=1', NONE],
  ['stdin=1&stdout=1', NONE],
  ['output=0&output=1', NONE],
] as const) {
  test(`streams of ?${query}`, () => {
    const request = parseStreams(new URLSearchParams(query));
    assert.deepEqual(request.ok ? request.value : request.problem, expected);
  });
}

test('commands keep their words, their order and their spaces', () => {
  const query = new URLSearchParams('command=sh&command=-c&command=echo+a++b&command=');
  const words = (text: URLSearchParams) => {
    const command = parseCommand(text);
    return command.ok ? command.value : command.problem;
  };
  assert.deepEqual(words(query), ['sh', '-c', 'echo a  b', '']);
  assert.deepEqual(words(new URLSearchParams('cmd=ls')), []);
  assert.equal(words(new URLSearchParams('command=&'.repeat(5000))), 'a command can have at most 4096 words');
  assert.deepEqual(runCommandOf(new URLSearchParams('cmd=ls+-l++/')), ['ls', '-l', '', '/']);
  assert.deepEqual(runCommandOf(new URLSearchParams('')), ['']);
});

for (const [query, expected] of [
  ['port=80', [80]],
  ['port=80,81&port=65535', [80, 81, 65_535]],
  ['', 'query parameter "port" is required'],
  ['port=', 'query parameter "port" cannot be empty'],
  ['port=0', 'port "0" must be > 0'],
  ['port=65536', 'unable to parse "65536" as a port: strconv.ParseUint: parsing "65536": value out of range'],
  ['port=-1', 'unable to parse "-1" as a port: strconv.ParseUint: parsing "-1": invalid syntax'],
  ['port=80,', 'unable to parse "80," as a port: strconv.ParseUint: parsing "": invalid syntax'],
  ['port=0x50', 'unable to parse "0x50" as a port: strconv.ParseUint: parsing "0x50": invalid syntax'],
] as const) {
  test(`ports of a WebSocket ?${query}`, () => {
    const ports = parsePorts(new URLSearchParams(query), true);
    assert.deepEqual(ports.ok ? ports.value : ports.problem, expected);
  });
}

test('the ports of SPDY are in the headers of its streams', () => {
  assert.deepEqual(parsePorts(new URLSearchParams('port=nonsense'), false), { ok: true, value: [] });
});
