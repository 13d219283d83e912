import { join } from 'node:path';
import { build } from 'esbuild';
import { callerTable } from './caller-table.ts';

export interface Bundle {
  readonly code: string;
  readonly map: string;
  /** Starts the bundle: see boot.ts. */
  readonly boot: string;
}

/** First line of the bundle; replaced by the real table, which is one line too, so that the source map stays true. */
const PLACE_FOR_TABLE = 'const CALLER_TABLE = undefined;';

const ONE_FILE = {
  bundle: true,
  write: false,
  platform: 'node',
  format: 'cjs',
  target: 'node26',
  legalComments: 'none',
  logLevel: 'warning',
} as const;

/**
 * The whole kubelet in one file, readable and with one statement a line, so that stack traces help and the caller table can go by lines. CommonJS: an ES module
 * that imports `node:http` makes Node load everything that hangs on it, WebSocket and fetch included, for 15 MB of memory and 20 ms.
 */
export async function bundleKubelet(root: string): Promise<Bundle> {
  const result = await build({
    ...ONE_FILE,
    entryPoints: [join(root, 'src/main.ts')],
    absWorkingDir: root,
    outfile: join(root, 'dist/kubelet.cjs'),
    sourcemap: 'linked',
    sourcesContent: false,
    // The package's ES modules: its Node entry is CommonJS, which can't be thinned out and needs `require`.
    alias: { yaml: join(root, 'node_modules/yaml/browser/dist/index.js') },
    banner: { js: PLACE_FOR_TABLE },
  });
  const textOf = (ending: string): string => {
    const file = result.outputFiles.find(({ path }) => path.endsWith(ending));
    if (file === undefined) throw new Error(`esbuild made no ${ending}`);
    return file.text;
  };
  const code = textOf('.cjs');
  const map = textOf('.map');
  const table = `const CALLER_TABLE = ${JSON.stringify(callerTable(code, map))};`;
  const boot = await build({ ...ONE_FILE, target: 'node18', entryPoints: [join(root, 'tools/bundle/boot.ts')] });
  return { code: code.replace(PLACE_FOR_TABLE, () => table), map, boot: boot.outputFiles[0]?.text ?? '' };
}
