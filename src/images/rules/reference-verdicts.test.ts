/** Names, patterns and credential files on which the real reference gave its verdict (`testdata/`). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hashLogin } from '../credentials.ts';
import { parseDockerConfigJson } from './docker-config.ts';
import { parseImageName } from './image-name.ts';
import { addLogins, emptyKeyring, findCredentials } from './keyring.ts';
import { textMatches } from './registry-match.ts';

type Verdict =
  | { readonly kind: 'name'; readonly image: string; readonly problem: string }
  | {
      readonly kind: 'name';
      readonly image: string;
      readonly repository: string;
      readonly tag: string;
      readonly digest: string;
    }
  | { readonly kind: 'images'; readonly images: readonly string[] }
  | { readonly kind: 'match'; readonly pattern: string; readonly matches: readonly string[] }
  | { readonly kind: 'keyring'; readonly text: string; readonly refused: true }
  | { readonly kind: 'keyring'; readonly text: string; readonly logins: Readonly<Record<string, readonly string[]>> };

const verdicts = readFileSync(join(import.meta.dirname, 'testdata', 'reference-verdicts.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Verdict);

test('image names mean the same, and bad ones are refused with the same words', () => {
  const names = verdicts.filter((verdict) => verdict.kind === 'name');
  assert.ok(names.length > 350, String(names.length));
  for (const { kind, image, ...expected } of names) {
    const parsed = parseImageName(image);
    assert.deepEqual(parsed.ok ? parsed.value : { problem: parsed.problem }, expected, `${kind} ${image}`);
  }
});

test('patterns match the same images', () => {
  const images = verdicts.find((verdict) => verdict.kind === 'images')?.images ?? [];
  const patterns = verdicts.filter((verdict) => verdict.kind === 'match');
  assert.ok(images.length > 10 && patterns.length > 20);
  for (const { pattern, matches } of patterns) {
    assert.deepEqual(
      images.filter((image) => textMatches(pattern, image)),
      matches,
      pattern,
    );
  }
});

test('credential files give the same logins for the same images, with the same hashes', () => {
  const files = verdicts.filter((verdict) => verdict.kind === 'keyring');
  assert.ok(files.length > 25);
  for (const verdict of files) {
    const parsed = parseDockerConfigJson(verdict.text);
    if ('refused' in verdict) {
      assert.equal(parsed.ok, false, verdict.text);
      continue;
    }
    assert.ok(parsed.ok, verdict.text);
    const keyring = addLogins(emptyKeyring, parsed.value, { kind: 'node' });
    for (const [image, logins] of Object.entries(verdict.logins)) {
      const found = findCredentials(keyring, image).map(
        ({ login }) => `${login.username}:${login.password}:${hashLogin(login)}`,
      );
      // Two entries for one place come in any order from the reference.
      assert.deepEqual(found.toSorted(), logins.toSorted(), `${image} in ${verdict.text}`);
    }
    const others = ['docker.io/library/busybox', 'example.com/app', 'gcr.io/p/i'].filter(
      (one) => !(one in verdict.logins),
    );
    for (const image of others) assert.deepEqual(findCredentials(keyring, image), [], `${image} in ${verdict.text}`);
  }
});
