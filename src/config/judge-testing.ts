import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveFeatures } from './features/features.ts';
import { type ValidationOutcome, validateConfig } from './rules/validate.ts';
import type { MachineFacts } from './rules/validation-input.ts';
import { applyFileDefaults } from './schema/defaults.ts';
import type { PartialKubeletConfiguration } from './schema/kubelet-configuration.ts';
import { defaultSettings, type Settings } from './settings.ts';

/** A small modern machine, so that rules about old kernel interfaces apply only in tests that ask for them. */
export const smallMachine: MachineFacts = {
  onlineCpus: [0, 1],
  numaNodes: [0],
  memoryBytes: 8n * 1024n ** 3n,
  cgroupVersion: 2,
};

/** Settings that the defaults need without an API server. */
const standalone: PartialKubeletConfiguration = {
  authentication: { webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
};

export type Surroundings = {
  readonly settings?: Partial<Settings>;
  readonly gates?: Readonly<Record<string, boolean>>;
  readonly machine?: Partial<MachineFacts>;
};

export function judge(config: PartialKubeletConfiguration, around: Surroundings = {}): ValidationOutcome {
  const { features } = resolveFeatures(around.gates ?? {});
  const kubelet = applyFileDefaults(
    { ...standalone, ...config },
    {
      KubeletCrashLoopBackOffMax: features.enabled('KubeletCrashLoopBackOffMax'),
      KubeletEnsureSecretPulledImages: features.enabled('KubeletEnsureSecretPulledImages'),
    },
  );
  const settings = { ...defaultSettings, ...around.settings };
  return validateConfig({ kubelet, settings, features, machine: { ...smallMachine, ...around.machine } });
}

/** One row: a configuration, and exactly the findings it gets, each as `path` or as a pattern of `path: rule`. */
export type Row = {
  readonly config: PartialKubeletConfiguration;
  readonly around?: Surroundings;
  readonly problems?: readonly (string | RegExp)[];
  readonly warnings?: readonly (string | RegExp)[];
};

/** A test for each row of a table. A row without expectations must pass without findings. */
export function judgeAll(table: Readonly<Record<string, Row>>): void {
  for (const [name, { config, around, problems = [], warnings = [] }] of Object.entries(table)) {
    test(name, () => {
      const outcome = judge(config, around);
      expectFindings('problems', outcome.problems, problems);
      expectFindings('warnings', outcome.warnings, warnings);
    });
  }
}

function expectFindings(
  what: string,
  found: ValidationOutcome['problems'],
  expected: readonly (string | RegExp)[],
): void {
  const seen = found.map(({ path, rule }) => `${path}: ${rule}`);
  assert.equal(seen.length, expected.length, `${what} are ${JSON.stringify(seen, undefined, 1)}`);
  for (const [index, one] of expected.entries()) {
    const text = seen[index] ?? '';
    if (typeof one === 'string') assert.equal(text.split(': ')[0], one, text);
    else assert.match(text, one);
  }
}
