import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createManualClock } from '../base/manual-clock.ts';
import { createCallerFinder } from './caller.ts';
import { createLog, type LogSettings } from './log.ts';

function setUp(settings: Partial<LogSettings> = {}) {
  const lines = { info: [] as string[], error: [] as string[] };
  const clock = createManualClock(1_763_213_804_000);
  const log = createLog(
    { format: 'text', verbosity: 0, modules: [], splitStream: false, infoBufferSize: 0, ...settings },
    {
      clock,
      pid: 7,
      findCaller: createCallerFinder(undefined),
      info: { write: (text) => void lines.info.push(text) },
      error: { write: (text) => void lines.error.push(text) },
    },
  );
  return { log, logger: log.logger, lines, clock };
}

const messages = (lines: readonly string[]) => lines.map((line) => /"([^"]*)"/.exec(line)?.[1] ?? line);

describe('log', () => {
  it('writes everything to the error stream, each line with its caller', () => {
    const { logger, lines } = setUp();
    logger.info('one');
    logger.warn('two');
    logger.error('three');
    assert.deepEqual(messages(lines.error), ['one', 'two', 'three']);
    assert.equal(lines.info.length, 0);
    assert.deepEqual(
      lines.error.map((line) => line.charAt(0)),
      ['I', 'W', 'E'],
    );
    for (const line of lines.error) assert.match(line, / log\.test\.ts:\d+\] /);
  });

  it('names the line of the call, not of the log', () => {
    const { logger, lines } = setUp();
    logger.info('here');
    logger.info('there');
    const [here = 0, there = 0] = lines.error.map((line) => Number(/:(\d+)\]/.exec(line)?.[1]));
    assert.equal(there - here, 1);
  });

  it('leaves the stack depth of other errors alone', () => {
    const { logger } = setUp();
    const before = Error.stackTraceLimit;
    logger.info('one');
    assert.equal(Error.stackTraceLimit, before);
  });

  it('hands out a logger only for wanted levels', () => {
    const { logger, lines, log } = setUp({ verbosity: 2 });
    logger.v(2)?.info('wanted');
    logger.v(3)?.info('unwanted');
    log.setLevels({ verbosity: 3, modules: [] });
    logger.v(3)?.info('now wanted');
    assert.deepEqual(messages(lines.error), ['wanted', 'now wanted']);
  });

  it('gives matching modules a verbosity of their own, and takes it back', () => {
    const { logger, lines, log } = setUp({ modules: [{ filePattern: 'work*', verbosity: 5 }] });
    const worker = logger.named('pods/worker').with({ pod: 'a/b' });
    worker.v(5)?.info('deep');
    logger.v(5)?.info('unwanted');
    log.setLevels({ verbosity: 0, modules: [] });
    worker.v(5)?.info('unwanted');
    assert.deepEqual(messages(lines.error), ['deep']);
  });

  it('writes the values of the logger and of the call; the call wins', () => {
    const { logger, lines } = setUp();
    logger.with({ pod: 'a/b', attempt: 1 }).info('one', { attempt: 2 });
    assert.match(lines.error[0] ?? '', /"one" pod="a\/b" attempt=2\n$/);
  });

  it('writes the level of the line in JSON', () => {
    const { logger, lines } = setUp({ format: 'json', verbosity: 4 });
    logger.v(4)?.info('deep');
    assert.equal(JSON.parse(lines.error[0] ?? '').v, 4);
  });

  it('splits the streams when asked to', () => {
    const { logger, lines } = setUp({ splitStream: true });
    logger.info('one');
    logger.warn('two');
    logger.error('three');
    assert.deepEqual(messages(lines.info), ['one']);
    assert.deepEqual(messages(lines.error), ['two', 'three']);
  });

  it('holds info lines back until the buffer is full or flushed, never cutting one', () => {
    const { logger, lines, log } = setUp({ splitStream: true, infoBufferSize: 150 });
    logger.info('one');
    logger.info('two');
    assert.equal(lines.info.length, 0);
    logger.info('three');
    assert.equal(lines.info.length, 1);
    assert.equal(lines.info[0]?.split('\n').length, 3);
    logger.info('x'.repeat(500));
    assert.equal(lines.info.length, 3);
    logger.info('last');
    log.flush();
    assert.match(lines.info[3] ?? '', /"last"/);
  });

  it('follows the wall clock when it is set', async () => {
    const { logger, lines, clock } = setUp({ format: 'json' });
    logger.info('one');
    await clock.advance(1.5);
    logger.info('two');
    assert.deepEqual(
      lines.error.map((line) => JSON.parse(line).ts),
      [1_763_213_804_000, 1_763_213_804_001.5],
    );
  });
});

describe('caller of a bundled line', () => {
  const ask = (table: string) => {
    const find = createCallerFinder(table);
    const border = () => find(border);
    return border();
  };

  it('is looked up in the table of the build', () => {
    const { line } = ask('');
    assert.deepEqual(ask(`${line}:pods/worker.ts:42`), { file: 'pods/worker.ts', line: 42 });
  });

  it('is the line of the bundle where the table does not know it', () => {
    assert.match(ask('1:pods/worker.ts:42\nnonsense\n').file, /log\.test\.ts$/);
  });
});
