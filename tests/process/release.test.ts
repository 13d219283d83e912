import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { NODE_OPTIONS } from '../../tools/bundle/node-options.ts';
import { binary, runKubelet, startKubelet, temporaryDirectory } from './kubelet.ts';

const root = resolve(import.meta.dirname, '../..');

describe('the release directory', () => {
  it('holds one executable that needs no Node, unit, sample and true checksums', async () => {
    const said = execFileSync(process.execPath, [join(root, 'tools/dist.ts')], { encoding: 'utf8' });
    const dir = /^release: (.*)$/m.exec(said)?.[1] ?? '';
    assert.match(dir, /\/kubelet-ts-\d+\.\d+\.\d+-linux-(amd64|arm64)$/);
    assert.deepEqual(readdirSync(dir).sort(), ['SHA256SUMS', 'kubelet', 'kubelet.service', 'kubelet.yaml']);
    execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: dir });
    // Nothing of Node's may be found, and its own options stay its own.
    const prepare = 'export PATH=/usr/bin:/bin NODE_OPTIONS= KUBELET_NODE=';
    await using kubelet = await startKubelet({ program: join(dir, 'kubelet'), prepare, flags: ['--v', '2'] });
    await kubelet.up();
    await kubelet.waitForLog(/ health\.ts:\d+\] "Serving health checks"/);
    assert.doesNotMatch(kubelet.log(), /ExperimentalWarning/);
    assert.equal(readFileSync(`/proc/${kubelet.pid}/comm`, 'utf8'), 'kubelet\n');
    kubelet.signal('SIGTERM');
    assert.equal((await kubelet.exited).code, 0);
  });
});

describe('the launcher', () => {
  it('works through a link and from another directory, and is the kubelet itself', async () => {
    const directory = temporaryDirectory();
    const link = join(directory, 'link');
    symlinkSync(binary, link);
    const { code, stdout } = await runKubelet({ program: link, config: null, flags: ['--version'] });
    assert.deepEqual([code, stdout.startsWith('Kubernetes v')], [0, true]);
    rmSync(directory, { recursive: true });
  });

  it('starts the kubelet from compiled code that fits', () => {
    const dist = join(root, 'dist');
    const script = `
      const { compileBundle } = await import(${JSON.stringify(join(root, 'tools/bundle/compile.ts'))});
      const { readFileSync } = await import('node:fs');
      const compiled = readFileSync(${JSON.stringify(join(dist, 'kubelet.code-cache'))});
      const { script } = compileBundle(readFileSync(${JSON.stringify(join(dist, 'kubelet.cjs'))}, 'latin1'), 'kubelet.cjs', compiled);
      console.log(script.cachedDataRejected);`;
    const said = execFileSync(process.execPath, [...NODE_OPTIONS, '--input-type=module', '--eval', script], {
      encoding: 'utf8',
    });
    assert.equal(said.trim(), 'false', 'V8 refuses the compiled code, so each start compiles everything again');
  });

  it('refuses a Node without the calls that it needs, in words', async () => {
    const { code, stderr } = await runKubelet({
      prepare: 'export NODE_OPTIONS=--no-experimental-ffi',
      config: null,
      flags: ['--version'],
    });
    assert.equal(code, 1);
    assert.match(stderr, /^kubelet: Node v\d+\S* at \S+ has no node:ffi/);
  });

  it('works without the compiled code', async () => {
    const directory = temporaryDirectory();
    execFileSync('cp', [binary, join(root, 'dist/boot.cjs'), join(root, 'dist/kubelet.cjs'), directory]);
    const prepare = `export KUBELET_NODE=${process.execPath}`;
    const program = join(directory, 'kubelet');
    const { code, stdout } = await runKubelet({ program, prepare, config: null, flags: ['--version'] });
    assert.deepEqual([code, stdout.startsWith('Kubernetes v')], [0, true]);
    rmSync(directory, { recursive: true });
  });

  it('says what is missing when there is no Node', async () => {
    const directory = temporaryDirectory();
    execFileSync('cp', [binary, directory]);
    const { code, stderr } = await runKubelet({
      program: join(directory, 'kubelet'),
      config: null,
      flags: ['--version'],
    });
    assert.equal(code, 1);
    assert.match(stderr, /no Node found.*KUBELET_NODE/);
    rmSync(directory, { recursive: true });
  });
});
