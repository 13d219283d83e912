import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CGROUP_V2, runKubelet, startKubelet, temporaryDirectory } from './kubelet.ts';

const limitsOf = (pid: number) =>
  /^Max open files\s+(\d+)\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8')) ?? [];

/** Directories below `root` with their modes, as the recorded list of the reference shows them. */
function directoriesBelow(root: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) found[path.slice(root.length + 1)] = (statSync(path).mode & 0o777).toString(8);
  }
  return found;
}

describe('data directories', () => {
  it('have the names and modes of the reference', async () => {
    await using kubelet = await startKubelet();
    await kubelet.up();
    const expected = {
      checkpoints: '700',
      image_manager: '700',
      'image_manager/pulled': '700',
      'image_manager/pulling': '700',
      plugins: '750',
      plugins_registry: '750',
      'pod-resources': '750',
      pods: '750',
    };
    // What parts of ours keep beside them is their own business.
    const found = directoriesBelow(join(kubelet.directory, 'root'));
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, found[name]])), expected);
    // The fixed places, as the kubelet sees them.
    const inside = (path: string) => statSync(`/proc/${kubelet.pid}/root${path}`).mode & 0o777;
    assert.equal(inside('/var/lib/kubelet/device-plugins'), 0o750);
    assert.ok(statSync(`/proc/${kubelet.pid}/root/var/log/containers`).isDirectory());
    assert.equal(statSync(join(kubelet.directory, 'pod-logs')).mode & 0o777, 0o750);
  });

  const unwritable: readonly (readonly [what: string, prepare: string, pattern: RegExp])[] = [
    ['on a read-only file system', 'mkdir "$DIR/root"; mount -t tmpfs -o ro none "$DIR/root"', /EROFS/],
    ['that is a file', 'echo > "$DIR/root"', /it exists and is not a directory/],
    ['below a file', 'rmdir "$DIR/root" 2>/dev/null || :; ln -s /etc/hostname/x "$DIR/root"', /EEXIST|ENOTDIR/],
    ['on a full disk', 'mkdir "$DIR/root"; mount -t tmpfs -o nr_inodes=1 none "$DIR/root"', /ENOSPC/],
  ];
  for (const [what, prepare, pattern] of unwritable) {
    it(`are a clear error with a root directory ${what}`, async () => {
      const { code, stderr } = await runKubelet({ prepare });
      assert.equal(code, 1, stderr);
      assert.match(stderr, /E.*"Kubelet failed to start" err="cannot use .*\/root.* as .*directory/);
      assert.match(stderr, pattern);
    });
  }

  it('survive a restart with their content', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'root/pods/uid'), { recursive: true });
    writeFileSync(join(directory, 'root/pods/uid/file'), 'kept');
    for (let round = 0; round < 2; round++) {
      await using kubelet = await startKubelet({ directory });
      await kubelet.up();
    }
    assert.equal(readFileSync(join(directory, 'root/pods/uid/file'), 'utf8'), 'kept');
    rmSync(directory, { recursive: true });
  });
});

describe('limits', () => {
  it('of open files become what the configuration asks for', async () => {
    await using kubelet = await startKubelet({ config: { maxOpenFiles: 5000 } });
    await kubelet.up();
    assert.deepEqual(limitsOf(kubelet.pid).slice(1), ['5000', '5000']);
    assert.doesNotMatch(kubelet.log(), /maxOpenFiles/);
  });

  it('of open files go as far as the hard limit, with a warning', async () => {
    // Without the capability to raise it, whoever runs the test.
    const prepare = 'ulimit -n 4000; set -- setpriv --bounding-set -sys_resource --inh-caps -sys_resource "$@"';
    await using kubelet = await startKubelet({ config: { maxOpenFiles: 1_000_000 }, prepare });
    await kubelet.up();
    assert.equal(limitsOf(kubelet.pid)[1], '4000');
    await kubelet.waitForLog(/W.*"Failed to raise the limit of open files to maxOpenFiles" request=1000000 limit=4000/);
  });

  it('for the out-of-memory killer are set, or warned about where that is not allowed', async () => {
    await using allowed = await startKubelet({ config: { oomScoreAdj: 321 } });
    const prepare = 'set -- setpriv --bounding-set -sys_resource --inh-caps -sys_resource "$@"';
    await using denied = await startKubelet({ config: { oomScoreAdj: -321 }, prepare });
    await Promise.all([allowed.up(), denied.up()]);
    assert.equal(readFileSync(`/proc/${allowed.pid}/oom_score_adj`, 'utf8').trim(), '321');
    await denied.waitForLog(/W.*"Failed to set own oomScoreAdj" err="EACCES/);
  });
});

describe('machines', () => {
  const swap = 'Filename Type Size Used Priority\\n/dev/lab-swap partition 1024 0 -2\\n';
  const withSwap = `printf '${swap}' > "$DIR/swaps"; mount --bind "$DIR/swaps" /proc/swaps`;

  it('with swap are refused, naming the setting', async () => {
    const { code, stderr } = await runKubelet({ config: { failSwapOn: true }, prepare: withSwap });
    assert.equal(code, 1);
    assert.match(stderr, /swap.*\/dev\/lab-swap.*failSwapOn/);
  });

  it('with swap are taken when that is allowed', async () => {
    await using kubelet = await startKubelet({ config: { failSwapOn: false }, prepare: withSwap });
    await kubelet.up();
  });

  it('with cgroup v1 are refused, naming the setting', async () => {
    const { code, stderr } = await runKubelet({
      config: { failCgroupV1: true },
      prepare: 'mount -t tmpfs none /sys/fs/cgroup',
    });
    assert.equal(code, 1);
    assert.match(stderr, /failCgroupV1/);
  });

  it('with cgroup v2 are fine', async () => {
    await using kubelet = await startKubelet({ config: { failCgroupV1: true }, prepare: CGROUP_V2 });
    await kubelet.up();
  });
});
