import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readProviderFiles } from './provider-config.ts';

interface Verdict {
  readonly name: string;
  readonly text: string;
  readonly accepted: boolean;
}

const verdicts = readFileSync(join(import.meta.dirname, 'testdata', 'provider-config-verdicts.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Verdict);

const read = (text: string, tokens = true) => readProviderFiles([{ path: 'c.yaml', text }], { tokens });

describe('the verdicts of the reference', () => {
  for (const { name, text, accepted } of verdicts) {
    // That one is refused for the file of the plugin, which is not looked at here.
    if (name === 'absent binary') continue;
    test(`${name}: ${accepted ? 'accepted' : 'refused'}`, () => {
      const { problems } = read(text);
      assert.equal(problems.length === 0, accepted, problems.join('\n'));
      for (const problem of problems) assert.match(problem, /^c\.yaml:/);
    });
  }
});

const textOf = (name: string) => verdicts.find((verdict) => verdict.name === name)?.text ?? '';

test('what is read', () => {
  assert.deepEqual(read(textOf('yaml')).providers, [
    {
      name: 'p',
      matchImages: ['*.io'],
      apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
      args: [],
      env: [],
      defaultCacheMs: 5_400_000,
      token: undefined,
    },
  ]);
  assert.deepEqual(read(textOf('token keys')).providers[0]?.token, {
    audience: 'aud',
    cacheType: 'Token',
    required: true,
    requiredAnnotations: ['a.io/x'],
    optionalAnnotations: ['b.io/y', 'Z'],
  });
});

test('without the gate there are no tokens', () => {
  assert.match(read(textOf('token'), false).problems.join(), /KubeletServiceAccountTokenForCredentialProviders/);
});

test('several files are one list, and all problems are reported at once, each with its file and field', () => {
  const files = [
    { path: 'a.yaml', text: textOf('two') },
    { path: 'b.yaml', text: textOf('plain') },
    { path: 'c.yaml', text: textOf('negative duration').replace('*.example.com', 'exa mple.com') },
    { path: 'd.yaml', text: 'a: [\n' },
  ];
  const { providers, problems } = readProviderFiles(files, { tokens: true });
  assert.deepEqual(
    providers.map(({ name }) => name),
    ['p', 'q', 'p', 'p'],
  );
  assert.deepEqual(
    problems.map((problem) => problem.split(': ').slice(0, 2).join(': ')),
    [
      'b.yaml: providers[0].name',
      'c.yaml: providers[0].matchImages[0]',
      'c.yaml: providers[0].defaultCacheDuration',
      'c.yaml: providers[0].name',
      problems.at(-1)?.split(': ').slice(0, 2).join(': '),
    ],
  );
  assert.match(problems.at(-1) ?? '', /^d\.yaml:\d+:\d+: /);
});
