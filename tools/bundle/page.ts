/** The page on port 4194: a few files that the kubelet serves as they are. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

export type PageFiles = ReadonlyMap<string, Uint8Array>;

/** Main.js, the parts of it that are loaded when they are needed, main.css, the page itself and its icon. */
export async function bundlePage(root: string): Promise<PageFiles> {
  const place = join(root, 'ui');
  const { outputFiles } = await build({
    entryPoints: [join(place, 'main.tsx')],
    absWorkingDir: root,
    outdir: join(root, 'dist/ui'),
    bundle: true,
    splitting: true,
    write: false,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2023',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
  });
  return new Map([
    ...outputFiles.map(({ path, contents }) => [basename(path), contents] as const),
    ...['index.html', 'icon.svg'].map((name) => [name, new Uint8Array(readFileSync(join(place, name)))] as const),
  ]);
}
