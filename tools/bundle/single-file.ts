/** The kubelet as one executable file: a Node with the bundle and its compiled code inside. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleKubelet } from './bundle.ts';
import { makeCodeCache } from './code-cache.ts';
import { buildExecutable } from './executable.ts';
import { bundlePage } from './page.ts';

export async function buildSingleFile(root: string, output: string): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'kubelet-dist-'));
  try {
    const { code, boot } = await bundleKubelet(root);
    const place = (name: string) => join(work, name);
    writeFileSync(place('boot.cjs'), boot);
    writeFileSync(place('kubelet.cjs'), code);
    writeFileSync(place('kubelet.code-cache'), makeCodeCache(place('kubelet.cjs')));
    const page = [...(await bundlePage(root))].map(([name, content]) => {
      writeFileSync(place(`ui-${name}`), content);
      return [`ui/${name}`, place(`ui-${name}`)] as const;
    });
    const assets = {
      'kubelet.cjs': place('kubelet.cjs'),
      'kubelet.code-cache': place('kubelet.code-cache'),
      ...Object.fromEntries(page),
    };
    buildExecutable({ boot: place('boot.cjs'), assets, output, work });
  } finally {
    rmSync(work, { recursive: true });
  }
}
