import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ensureDataDirectories } from './data-directories.ts';
import { refuseMachine } from './rules/machine.ts';

describe('data directories', () => {
  let base: string;
  const config = () => ({
    root: join(base, 'kubelet'),
    podLogs: join(base, 'log/pods'),
    devicePlugins: join(base, 'fixed/device-plugins'),
    containerLogs: join(base, 'log/containers'),
  });
  const mode = (path: string) => (statSync(join(base, path)).mode & 0o777).toString(8);
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'data-'));
  });
  afterEach(() => rmSync(base, { recursive: true }));

  it('have the names and modes that other tools expect', () => {
    ensureDataDirectories(config());
    // The directories of a recorded root directory of the reference.
    const expected = {
      kubelet: '750',
      'kubelet/checkpoints': '700',
      'kubelet/image_manager': '700',
      'kubelet/image_manager/pulled': '700',
      'kubelet/image_manager/pulling': '700',
      'kubelet/plugins': '750',
      'kubelet/plugins_registry': '750',
      'kubelet/pod-resources': '750',
      'kubelet/pods': '750',
      'log/pods': '750',
      'log/containers': '755',
      'fixed/device-plugins': '750',
    };
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((path) => [path, mode(path)])), expected);
  });

  it('that exist already keep their mode and content', () => {
    mkdirSync(join(base, 'kubelet/pods/uid'), { recursive: true });
    chmodSync(join(base, 'kubelet/pods'), 0o711);
    ensureDataDirectories(config());
    ensureDataDirectories(config());
    assert.equal(mode('kubelet/pods'), '711');
    assert.ok(statSync(join(base, 'kubelet/pods/uid')).isDirectory());
  });

  for (const [what, path, error] of [
    [
      'a file in place of the root directory',
      'kubelet',
      /kubelet as root directory \(--root-dir\): it exists and is not a directory/,
    ],
    ['a file above the pod logs', 'log', /log\/pods as pod log directory \(podLogsDir\): .*ENOTDIR/],
  ] as const) {
    it(`refuse ${what}`, () => {
      writeFileSync(join(base, path), '');
      assert.throws(() => ensureDataDirectories(config()), error);
    });
  }

  for (const odd of ['/', '//', '/../', '/./']) {
    it(`refuse a root directory that ends in ${odd}`, () => {
      assert.throws(
        () => ensureDataDirectories({ ...config(), root: `${base}/a${odd}` }),
        /\(--root-dir\) .* must be written as /,
      );
    });
  }
});

describe('machines', () => {
  for (const [what, failSwapOn, swapAreas, refusal] of [
    ['no swap', true, [], undefined],
    ['swap', true, ['/dev/sda2', '/swap'], /\/dev\/sda2, \/swap.*failSwapOn \(--fail-swap-on\)/],
    ['swap when it is allowed', false, ['/swap'], undefined],
  ] as const) {
    it(`${refusal === undefined ? 'are accepted' : 'are refused'} with ${what}`, () => {
      const said = refuseMachine({ failSwapOn }, { swapAreas });
      if (refusal === undefined) assert.equal(said, undefined);
      else assert.match(said ?? '', refusal);
    });
  }
});
