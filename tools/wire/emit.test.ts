import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { decode } from '../../src/wire/decode.ts';
import { encode } from '../../src/wire/encode.ts';
import type { MessageType, MethodType } from '../../src/wire/message.ts';
import { emitAll, propertyName } from './emit.ts';
import { parseSchema } from './parse.ts';

const names: readonly [string, string][] = [
  ['pod_sandbox_id', 'podSandboxId'],
  ['uidMappings', 'uidMappings'],
  ['CDI_devices', 'cdiDevices'],
  ['ID', 'id'],
  ['available_deviceIDs', 'availableDeviceIDs'],
  ['Avg10', 'avg10'],
  ['cdi_device_ids', 'cdiDeviceIds'],
  ['NodePrepareResources', 'nodePrepareResources'],
];
for (const [name, expected] of names)
  test(`${name} becomes ${expected}`, () => assert.equal(propertyName(name), expected));

const base = `syntax = "proto3";
package base;
message Shared {
  string text = 1;
}
`;
const main = `// Made for this test.
syntax = "proto3";
package main.v1;
import "base.proto";
service Things {
  rpc Watch(Thing) returns (stream base.Shared);
}
message Thing {
  enum Color {
    RED = 0;
    BLUE = 1;
  }
  message Part {
    Color color = 1;
  }
  repeated Part parts = 9;
  base.Shared shared = 2;
  oneof kind {
    string name = 3;
    int64 number = 4;
  }
  bytes raw = 5;
}
`;

test('generated code runs: nested types, imports, oneof, methods', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'emit-'));
  t.after(() => rm(directory, { recursive: true }));
  const files = emitAll([parseSchema('base.proto', base), parseSchema('main.proto', main)]);
  const messageFile = pathToFileURL(resolve(import.meta.dirname, '../../src/wire/message.ts')).href;
  for (const [name, text] of files) await writeFile(join(directory, name), text.replace('../message.ts', messageFile));
  const made = (await import(pathToFileURL(join(directory, 'main.ts')).href)) as {
    Thing: MessageType<object>;
    ThingColor: object;
    Things: Record<string, MethodType<unknown, unknown>>;
  };
  assert.deepEqual(made.ThingColor, { RED: 0, BLUE: 1 });
  assert.equal(made.Things['watch']?.path, '/main.v1.Things/Watch');
  assert.equal(made.Things['watch']?.serverStream, true);
  assert.equal(made.Things['watch']?.response.name, 'base.Shared');
  const value = { parts: [{ color: 1 }, { color: 0 }], shared: { text: 'x' }, number: 5n };
  const bytes = encode(made.Thing, value as never);
  assert.equal(Buffer.from(bytes).toString('hex'), '12030a017820054a0208014a00');
  assert.deepEqual(decode(made.Thing, bytes), { ...value, name: undefined, raw: new Uint8Array(0) });
  const twice = Buffer.concat([bytes, Buffer.from('1a0161', 'hex')]);
  assert.deepEqual(decode(made.Thing, twice), { ...value, number: undefined, name: 'a', raw: new Uint8Array(0) });
});

const refused: readonly [string, string, RegExp][] = [
  ['a type that is not declared', 'message M {\n  Nothing a = 1;\n}', /M uses Nothing, which is not declared/],
  ['a type of a file that is not imported', 'message M {\n  base.Shared a = 1;\n}', /base\.Shared/],
  ['a scalar that we have no codec for', 'message M {\n  sint32 a = 1;\n}', /sint32/],
  [
    'JS_NUMBER on text',
    'message M {\n  string a = 1 [jstype = JS_NUMBER];\n}',
    /M\.a: jstype = JS_NUMBER is for 64-bit integers, not string/,
  ],
];
for (const [name, text, expected] of refused) {
  test(`refuses ${name}`, () => {
    const schemas = [parseSchema('base.proto', base), parseSchema('x.proto', text)];
    assert.throws(() => emitAll(schemas), { message: expected });
  });
}
