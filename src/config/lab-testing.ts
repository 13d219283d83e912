/** The set-up in which the reference's verdicts were recorded: the base of every configuration, and the machine. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type ConfigOutcome, readConfig } from './config.ts';

export type Recorded = {
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly flags: readonly string[];
  readonly verdict: 'accepted' | 'refused';
};

export function readRecord(file: 'config-verdicts.jsonl' | 'validation-verdicts.jsonl'): readonly Recorded[] {
  const lines = readFileSync(new URL(`testdata/${file}`, import.meta.url), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line): Recorded => JSON.parse(line));
}

const base = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  containerRuntimeEndpoint: 'unix:///run/lab/containerd.sock',
  cgroupDriver: 'cgroupfs',
  cgroupRoot: '/lab',
  failCgroupV1: false,
  failSwapOn: false,
  podLogsDir: '/var/log/lab-pods',
  oomScoreAdj: 0,
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
};
const baseFlags = ['--config=/lab/kubelet.json', '--hostname-override=labnode', '--node-ip=192.0.2.10'];
baseFlags.push('--root-dir=/lab/root', '--cert-dir=/lab/pki');

/** Our verdict, through the public entry point. */
export function judgeInLab(config: Recorded['config'], flags: Recorded['flags']): ConfigOutcome {
  const text = JSON.stringify({ ...base, ...config }, undefined, 1);
  return readConfig([...baseFlags, ...flags], {
    readTextFile: (path) => {
      assert.equal(path, '/lab/kubelet.json');
      return text;
    },
    listDir: () => [],
    workingDirectory: '/lab',
    terminalWidth: () => 80,
    build: { nodeVersion: 'v26.0.0', platform: 'linux/amd64' },
    machine: () => ({ onlineCpus: [0, 1], numaNodes: [0], memoryBytes: 24_684_100n * 1024n, cgroupVersion: 1 }),
  });
}

export function saidTo(outcome: ConfigOutcome, what: 'problems' | 'warnings'): readonly string[] {
  if (outcome.kind === 'print') return [];
  if (what === 'warnings') return outcome.warnings;
  return outcome.kind === 'refused' ? outcome.problems : [];
}
