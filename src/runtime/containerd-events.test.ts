import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf } from '../base/errors.ts';
import { decode } from '../wire/decode.ts';
import { encode } from '../wire/encode.ts';
import { SandboxExit, TaskDelete, TaskExecAdded, TaskExit, TaskStart } from '../wire/gen/containerd-events.ts';
import { Envelope } from '../wire/gen/containerd-types.ts';
import type { Init, MessageType } from '../wire/message.ts';
import { type ContainerdEvent, readEnvelope } from './containerd-events.ts';

function envelope<T>(type: MessageType<T>, event: Init<T>, prefix = ''): Envelope {
  const wrapped = {
    timestamp: { seconds: 100, nanos: 5 },
    namespace: 'k8s.io',
    topic: '/tasks/any',
    event: { typeUrl: `${prefix}${type.name}`, value: encode(type, event) },
  };
  return decode(Envelope, encode(Envelope, wrapped));
}

const plain = { containerId: 'c', execId: undefined, at: 100_000_000_005n, exitStatus: undefined };

const cases: readonly [string, Envelope, ContainerdEvent | undefined][] = [
  ['what was cleared away', envelope(TaskDelete, { containerId: 'c', pid: 7 }), { ...plain, kind: 'deleted' }],
  ['with a prefix', envelope(TaskDelete, { containerId: 'c' }, 'type.googleapis.com/'), { ...plain, kind: 'deleted' }],
  [
    'the exit of a container, at its own time',
    envelope(TaskExit, { containerId: 'c', id: 'c', exitStatus: 137, exitedAt: { seconds: 99, nanos: 1 } }),
    { ...plain, kind: 'exited', exitStatus: 137, at: 99_000_000_001n },
  ],
  [
    'the exit of a command in it',
    envelope(TaskExit, { containerId: 'c', id: 'exec-1' }),
    { ...plain, kind: 'exited', execId: 'exec-1', exitStatus: 0 },
  ],
  ['a start', envelope(TaskStart, { containerId: 'c', pid: 7 }), undefined],
  ['what no one asked for', envelope(TaskExecAdded, { containerId: 'c', execId: 'e' }), undefined],
  ['an event of sandboxes', envelope(SandboxExit, { sandboxId: 'c' }), undefined],
  ['an envelope with nothing in it', decode(Envelope, new Uint8Array(0)), undefined],
];

for (const [name, input, expected] of cases) test(name, () => assert.deepEqual(readEnvelope(input), expected));

test('an event without a container is refused', () => {
  assert.throws(
    () => readEnvelope(envelope(TaskExit, {})),
    (error) => codeOf(error) === 'invalid',
  );
});
