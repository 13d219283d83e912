import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KubeletOptions, runKubelet } from './kubelet.ts';

const bare = (...flags: string[]): KubeletOptions => ({ config: null, flags });

describe('the command', () => {
  it('prints its version as kubeadm reads it', async () => {
    const { code, stdout, stderr } = await runKubelet(bare('--version'));
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^Kubernetes v1\.36\.\d+\n$/);
    assert.match((await runKubelet(bare('--version=raw'))).stdout, /^version\.Info\{Major:"1", Minor:"36".*kubelet-ts/);
  });

  for (const flag of ['-h', '--help']) {
    it(`prints its flags with ${flag}`, async () => {
      const { code, stdout, stderr } = await runKubelet(bare(flag));
      assert.deepEqual([code, stderr], [0, '']);
      for (const name of ['--config', '--root-dir', '--cadvisor-port', '--runonce', '--lock-file']) {
        assert.ok(stdout.includes(name), `${name} is missing`);
      }
      assert.ok(Math.max(...stdout.split('\n').map((line) => line.length)) <= 80, 'lines are wrapped');
    });
  }

  const refused: readonly (readonly [what: string, options: KubeletOptions, stderr: RegExp])[] = [
    ['an unknown flag', bare('--rot-dir=/x'), /--rot-dir.*--root-dir/s],
    ['a flag without its value', bare('--kubeconfig'), /--kubeconfig/],
    ['a bad number', bare('--max-pods=many'), /--max-pods.*"many"/],
    ['a bad duration', bare('--sync-frequency=soon'), /--sync-frequency.*"soon"/],
    ['a positional argument', bare('start'), /"?start"?/],
    ['an unknown feature gate', bare('--feature-gates=NoSuchGate=true'), /NoSuchGate/],
    [
      'contention without a lock file',
      { flags: ['--exit-on-lock-contention'] },
      /exit-on-lock-contention.*lock-file|lock-file/s,
    ],
    [
      'a missing configuration file',
      { config: null, flags: ['--config', '/nowhere/kubelet.yaml'] },
      /\/nowhere\/kubelet\.yaml/,
    ],
    ['a file of bytes', { configText: '\x00\x01\xff\xfe{[' }, /kubelet\.yaml/],
    ['an empty file', { configText: '' }, /kubelet\.yaml/],
    ['broken YAML', { configText: 'kind: KubeletConfiguration\n  apiVersion: [\n' }, /kubelet\.yaml:\d+/],
    ['another kind', { config: { kind: 'Pod', apiVersion: 'v1' } }, /Pod/],
    ['a wrong type', { config: { maxPods: 'many' } }, /kubelet\.yaml:\d+.*maxPods/],
    [
      'a value against a rule',
      { config: { imageGCHighThresholdPercent: 10, imageGCLowThresholdPercent: 20 } },
      /imageGCLowThresholdPercent/,
    ],
    [
      'a bootstrap kubeconfig that is missing',
      { flags: ['--kubeconfig=/nowhere/kubelet.conf', '--bootstrap-kubeconfig=/nowhere/bootstrap.conf'] },
      /the kubeconfig \/nowhere\/bootstrap\.conf can't be read/,
    ],
    ['an unknown field when strict', { config: { maxPodz: 3 }, flags: ['--strict-config'] }, /maxPodz.*maxPods/s],
  ];
  for (const [what, options, pattern] of refused) {
    it(`refuses ${what} with exit code 1, before it touches anything`, async () => {
      const { code, stdout, stderr } = await runKubelet(options);
      assert.equal(code, 1, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, pattern);
      assert.doesNotMatch(stderr, /\n\s+at .*\.(cjs|ts):\d+/, 'no stack trace for a mistake of the user');
    });
  }

  it('tells one line for a bad flag, and where to find help', async () => {
    const { stderr } = await runKubelet(bare('--max-pods=many'));
    assert.equal(stderr.trimEnd().split('\n').length, 2);
    assert.match(stderr, /--help/);
  });

  it('reports every problem of a configuration at once', async () => {
    const config = { maxPods: -1, containerLogMaxFiles: 1, healthzPort: 70000 };
    const { code, stderr } = await runKubelet({ config });
    assert.equal(code, 1);
    for (const field of Object.keys(config)) assert.ok(stderr.includes(field), `${field} is missing:\n${stderr}`);
  });
});
