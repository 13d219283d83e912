import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';

const directory = mkdtempSync(join(tmpdir(), 'output-'));
after(() => rmSync(directory, { recursive: true }));

type Kind = 'pipe' | 'socket' | { readonly file: string };

/** What the program reads its stderr through: Node gives children sockets, a shell gives them real pipes. */
function commandFor(kind: Kind): readonly string[] {
  if (kind === 'socket') return [];
  if (kind === 'pipe') return ['sh', '-c', '{ "$@" 2>&1 1>&3 | cat >&2; } 3>&1', 'sh'];
  return ['sh', '-c', `exec "$@" 2>>${kind.file}`, 'sh'];
}

/** A process of its own writes numbered lines to its stderr, then does what `then` says; stdout reports how it went. */
function writer(kind: Kind, lines: number, then: string) {
  const code = `
    import { createHost } from ${JSON.stringify(join(import.meta.dirname, 'host.ts'))};
    import { createSystemClock } from ${JSON.stringify(join(import.meta.dirname, '../base/clock.ts'))};
    let lost = 0;
    const out = createHost().openOutput(2, { clock: createSystemClock(), onLoss: (n) => { lost += n; } });
    for (let i = 1; i <= ${lines}; i++) out.write('line ' + i + ' ' + 'x'.repeat(90) + '\\n');
    ${then}`;
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', code];
  const [program = '', ...args] = [...commandFor(kind), ...node];
  return spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Reads like a slow terminal: what is there, then a pause. A pause for each small chunk would be a reader who stops for seconds. */
async function readSlowly(stream: NodeJS.ReadableStream, pauseMs: number): Promise<string> {
  let text = '';
  for await (const chunk of stream) {
    text += chunk;
    for (let more = stream.read(); more !== null; more = stream.read()) text += more;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return text;
}

const numbersOf = (text: string) => [...text.matchAll(/^line (\d+) x{90}$/gm)].map((match) => Number(match[1]));
const upTo = (count: number) => Array.from({ length: count }, (_unused, i) => i + 1);

for (const kind of ['pipe', 'socket'] as const) {
  describe(`output to a ${kind}`, () => {
    it('brings every line to a slow reader before the exit', async () => {
      const child = writer(kind, 10_000, 'out.flush(); process.exit(0);');
      assert.deepEqual(numbersOf(await readSlowly(child.stderr, 5)), upTo(10_000));
    });

    it('brings every line to the reader although signals end its waits', async () => {
      const signals = `
        import { spawn } from 'node:child_process';
        process.on('SIGHUP', () => undefined);
        spawn('sh', ['-c', 'while kill -HUP ' + process.pid + '; do sleep 0.01; done'], { stdio: 'ignore' });`;
      const child = writer(kind, 10_000, `${signals}; out.flush(); process.exit(0);`);
      assert.deepEqual(numbersOf(await readSlowly(child.stderr, 5)), upTo(10_000));
    });

    it('goes on by itself when the reader comes back, and does not stop the event loop meanwhile', async () => {
      const whenDone = 'setInterval(() => out.stalledMs() === 0 && process.exit(0), 5);';
      const child = writer(kind, 5000, `console.log('free'); ${whenDone}`);
      // No one reads its lines yet: a write that waited for a reader would never come to this.
      const [said] = await once(child.stdout, 'data');
      assert.equal(String(said), 'free\n');
      assert.deepEqual(numbersOf(await readSlowly(child.stderr, 1)), upTo(5000));
    });

    it('exits although no one reads', async () => {
      const child = writer(kind, 10_000, "out.flush(); console.log('flushed'); process.exit(0);");
      const [said] = await once(child.stdout, 'data');
      assert.equal(String(said), 'flushed\n');
      child.stderr.resume();
      await once(child, 'exit');
    });

    it('counts what it had to drop when no one reads for long', async () => {
      const whenDone = 'setInterval(() => { if (lost > 0) { console.log(lost); process.exit(0); } }, 5);';
      const child = writer(kind, 120_000, whenDone);
      await new Promise((resolve) => setTimeout(resolve, 500));
      const [said, text] = await Promise.all([once(child.stdout, 'data'), readSlowly(child.stderr, 0)]);
      const lines = numbersOf(text);
      assert.equal(lines.length + Number(said[0]), 120_000);
      assert.ok(lines.length > 60_000, `only ${lines.length} lines were kept`);
    });
  });
}

describe('output', () => {
  it('does not care when the reader goes away', async () => {
    const child = writer(
      'socket',
      1000,
      "setTimeout(() => { out.write('more'); console.log('alive'); process.exit(0); }, 50);",
    );
    child.stderr.destroy();
    const [said] = await once(child.stdout, 'data');
    assert.equal(String(said), 'alive\n');
  });

  it('writes to the end of a file', async () => {
    const file = join(directory, 'log');
    writeFileSync(file, 'before\n');
    await once(writer({ file }, 3, 'process.exit(0);'), 'exit');
    const text = readFileSync(file, 'utf8');
    assert.ok(text.startsWith('before\n'));
    assert.deepEqual(numbersOf(text), [1, 2, 3]);
  });
});
