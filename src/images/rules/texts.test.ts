import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseImageName } from './image-name.ts';
import * as texts from './texts.ts';

interface Life {
  readonly events: readonly { readonly message: string }[];
  readonly statuses: readonly {
    readonly status: {
      readonly containerStatuses?: readonly {
        readonly state: { readonly waiting?: { readonly reason: string; readonly message?: string } };
      }[];
    };
  }[];
}

/** Everything that users could read about a recorded pod. */
function wordsOf(life: string): readonly string[] {
  const path = join(import.meta.dirname, '..', '..', '..', 'tests', 'recorded', 'pods', `${life}.json`);
  const { events, statuses } = JSON.parse(readFileSync(path, 'utf8')) as Life;
  const waiting = statuses.flatMap(({ status }) => status.containerStatuses?.map(({ state }) => state.waiting) ?? []);
  return [
    ...events.map(({ message }) => message),
    ...waiting.flatMap((one) => [one?.reason ?? '', one?.message ?? '']),
  ];
}

const ABSENT = 'registry.k8s.io/none/here:1';
const FAILING = '127.0.0.1:5999/none/here:1';
const ERROR =
  'failed to pull and unpack image "127.0.0.1:5999/none/here:1": failed to resolve image: failed to do request: Head "https://127.0.0.1:5999/v2/none/here/manifests/1": dial tcp 127.0.0.1:5999: connect: connection refused';

const recorded: readonly (readonly [string, string])[] = [
  ['no-image', texts.notPresent(ABSENT)],
  ['no-image', texts.WAITING.neverPull],
  ['pull-fails', texts.pulling(FAILING)],
  ['pull-fails', texts.pullFailed(FAILING, ERROR)],
  ['pull-fails', texts.backOff(FAILING)],
  ['pull-fails', texts.describePullError(FAILING, ERROR).message],
  ['pull-fails', texts.describePullError(FAILING, ERROR).reason],
  ['pull-fails', texts.WAITING.backOff],
  [
    'invalid-image',
    texts.invalidName('NOT//valid::', 'couldn\'t parse image name "NOT//valid::": invalid reference format'),
  ],
  ['invalid-image', texts.WAITING.invalidName],
  ['crash-loop', texts.alreadyPresent('registry.k8s.io/e2e-test-images/busybox:1.37.0-1', true)],
];

for (const [life, text] of recorded) {
  test(`the reference was recorded with these words: ${text.slice(0, 60)}`, () => {
    assert.ok(wordsOf(life).includes(text), text);
  });
}

test('how long a pull took, in whole milliseconds', () => {
  assert.equal(
    texts.pulled('a:1', { pullMs: 1234.9, waitedMs: 61_500.2, bytes: 777 }),
    'Successfully pulled image "a:1" in 1.234s (1m1.5s including waiting). Image size: 777 bytes.',
  );
});

test('runtimes can say why a pull failed', () => {
  assert.deepEqual(texts.describePullError('a:1', 'RegistryUnavailable: down for now'), {
    reason: 'RegistryUnavailable',
    message: 'image pull failed for a:1 because the registry is unavailable: down for now',
  });
  assert.deepEqual(texts.describePullError('a:1', 'SignatureValidationFailed'), {
    reason: 'SignatureValidationFailed',
    message: 'image pull failed for a:1 because the signature validation failed',
  });
});

test('several errors are one text, each of them once', () => {
  assert.equal(texts.joinErrors(['a']), 'a');
  assert.equal(texts.joinErrors(['a', 'a']), 'a');
  assert.equal(texts.joinErrors(['a', 'b', 'a']), '[a, b]');
});

test('a name that is far too long is cut in what the pod shows', () => {
  const image = 'x'.repeat(1_000_000);
  const parsed = parseImageName(image);
  assert.ok(!parsed.ok);
  assert.ok(texts.invalidName(image, parsed.problem).length < 3000);
});
