import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jsonLine, type LogEntry, textLine } from './log-lines.ts';

const entry = (more: Partial<LogEntry>): LogEntry => ({
  severity: 'I',
  time: new Date(2025, 10, 15, 13, 36, 44, 123).getTime() + 0.456,
  pid: 812,
  caller: { file: '/src/pods/worker.ts', line: 42 },
  verbosity: 0,
  message: 'Pod started',
  values: {},
  ...more,
});

describe('text lines', () => {
  it('have the header that log readers parse', () => {
    assert.equal(textLine(entry({})), 'I1115 13:36:44.123456     812 worker.ts:42] "Pod started"\n');
    assert.match(
      textLine(entry({ severity: 'E', pid: 12345678 })),
      /^E1115 13:36:44\.123456 12345678 worker\.ts:42\] /,
    );
  });

  const values: readonly (readonly [string, unknown, string])[] = [
    ['plain text', 'default/web', 'key="default/web"'],
    ['empty text', '', 'key=""'],
    ['quotes and backslashes', 'say "hi" \\o/', 'key="say \\"hi\\" \\\\o/"'],
    ['control characters', 'a\tb\x1b[0m\x7f', 'key="a\\tb\\x1b[0m\\x7f"'],
    ['printable unicode', 'Grüße 日本 🎉', 'key="Grüße 日本 🎉"'],
    ['unprintable unicode', 'a\u200bb\u{e0001}', 'key="a\\u200bb\\U000e0001"'],
    ['half a surrogate pair', 'a\ud800b', 'key="a\ufffdb"'],
    ['a number', 3.5, 'key=3.5'],
    ['a number without JSON', Number.NaN, 'key="NaN"'],
    ['a big integer', 2n ** 64n, 'key="18446744073709551616"'],
    ['a boolean', false, 'key=false'],
    ['nothing', null, 'key=null'],
    ['a list', ['a', 1], 'key=["a",1]'],
    ['an object', { a: { b: '<&>' } }, 'key={"a":{"b":"\\u003c\\u0026\\u003e"}}'],
    ['a map', new Map([['a', 1]]), 'key={"a":1}'],
    ['a set', new Set([1]), 'key=[1]'],
    ['lines', 'one\ntwo', 'key=<\n\tone\n\ttwo\n >'],
    ['lines with an end', 'one\ntwo\n', 'key=<\n\tone\n\ttwo\n >'],
    ['an error with its cause', new Error('no route', { cause: new Error('down') }), 'key="no route: down"'],
    ['a function', () => undefined, 'key=null'],
  ];
  for (const [what, value, text] of values) {
    it(`shows ${what}`, () => {
      assert.equal(textLine(entry({ values: { key: value } })).split('"Pod started" ')[1], `${text}\n`);
    });
  }

  it('put the error first and leave out what is undefined', () => {
    const line = textLine(entry({ values: { pod: 'a/b', gone: undefined, err: new Error('boom') } }));
    assert.ok(line.endsWith('"Pod started" err="boom" pod="a/b"\n'), line);
  });

  it('survive a value that JSON refuses', () => {
    const round: Record<string, unknown> = {};
    round['self'] = round;
    assert.match(textLine(entry({ values: { round } })), /round="<internal error: .*circular/i);
  });

  it('stay one line whatever the message is', () => {
    assert.ok(textLine(entry({ message: 'two\nlines' })).endsWith('"two\\nlines"\n'));
  });
});

describe('JSON lines', () => {
  it('have the fields of the reference in its order', () => {
    const line = jsonLine(entry({ verbosity: 4, values: { pod: 'a/b' } }));
    const ts = entry({}).time;
    assert.equal(line, `{"ts":${ts},"caller":"pods/worker.ts:42","msg":"Pod started","v":4,"pod":"a/b"}\n`);
  });

  it('show an error last and without a level', () => {
    const line = jsonLine(entry({ severity: 'E', values: { err: new Error('boom'), pod: 'a/b' } }));
    assert.ok(line.endsWith('"msg":"Pod started","pod":"a/b","err":"boom"}\n'), line);
    assert.equal('v' in JSON.parse(line), false);
  });

  it('are JSON on one line for every kind of value', () => {
    const values = { a: 'x\ny', b: 1n, c: undefined, d: Number.POSITIVE_INFINITY, e: new Map([[1, 2]]), 'f"': null };
    const line = jsonLine(entry({ message: 'a "b"\n', values }));
    assert.equal(line.indexOf('\n'), line.length - 1);
    const parsed = JSON.parse(line);
    assert.equal(parsed.msg, 'a "b"\n');
    assert.deepEqual([parsed.a, parsed.b, parsed.d, parsed.e, parsed['f"']], ['x\ny', 1, 'Infinity', { 1: 2 }, null]);
  });
});
