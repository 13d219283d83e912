import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { build } from 'esbuild';
import { callerTable, decodeNumbers } from './caller-table.ts';

describe('caller table', () => {
  it('names the source line of every log call of a real bundle', async () => {
    const source = [
      "import { other } from './other.ts';",
      'type Unused = { a: number };',
      'export function work(log: { info(m: string): void; error(m: string): void }): Unused {',
      '  if (Math.random() > 2) {',
      "    log.info('first');",
      '  }',
      '  other(log);',
      "  log.error('second');",
      '  return { a: 1 };',
      '}',
    ].join('\n');
    const other =
      "// a comment\nexport const other = (log: { info(m: string): void }) => {\n\n  log.info('third');\n};\n";
    const files: Readonly<Record<string, string>> = { '/src/pods/work.ts': source, '/src/pods/other.ts': other };
    const result = await build({
      entryPoints: ['/src/pods/work.ts'],
      bundle: true,
      write: false,
      outfile: '/out.cjs',
      format: 'cjs',
      sourcemap: 'external',
      plugins: [
        {
          name: 'memory',
          setup: (api) => {
            api.onResolve({ filter: /./ }, ({ path }) => ({
              path: path.replace(/^\.\//, '/src/pods/'),
              namespace: 'memory',
            }));
            api.onLoad({ filter: /./, namespace: 'memory' }, ({ path }) => ({
              contents: files[path] ?? '',
              loader: 'ts',
            }));
          },
        },
      ],
    });
    const [map = '', code = ''] = ['.map', '.cjs'].map(
      (end) => result.outputFiles.find(({ path }) => path.endsWith(end))?.text,
    );
    const places = new Map(
      callerTable(code, map)
        .split('\n')
        .map((row) => [Number(row.split(':')[0]), row.replace(/^\d+:/, '')]),
    );
    const placeOf = (text: string) => places.get(code.split('\n').findIndex((line) => line.includes(text)) + 1);
    const found = ['"first"', '"second"', '"third"'].map(placeOf);
    assert.deepEqual(found, ['pods/work.ts:5', 'pods/work.ts:8', 'pods/other.ts:4']);
  });

  for (const [text, numbers] of [
    ['', []],
    ['A', [0]],
    ['C', [1]],
    ['D', [-1]],
    ['gB', [16]],
    ['hB', [-16]],
    ['AAgBC', [0, 0, 16, 1]],
    ['2HwcqxB', [123, 456, 789]],
  ] as const) {
    it(`decodes ${JSON.stringify(text)}`, () => assert.deepEqual(decodeNumbers(text), numbers));
  }
});
