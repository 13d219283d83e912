/**
 * testdata/golden.jsonl: for every message of every schema, bytes and values written by another implementation (Google's
 * protobuf for Python, from the same proto/ files, with chosen and random values). Integers past 31 bits are text there,
 * bytes are hex, and what has its zero value is absent. Those of v1alpha1 are from Google's protobuf for Go and the API's own package.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { decode } from './decode.ts';
import { encode } from './encode.ts';
import { type AnyMessage, type Field, Kind, type MessageType, Shape } from './message.ts';

interface Golden {
  readonly message: string;
  readonly hex: string;
  readonly json: unknown;
}

const golden = readFileSync(join(import.meta.dirname, 'testdata/golden.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Golden);

const types = new Map<string, AnyMessage>();
for (const file of readdirSync(join(import.meta.dirname, 'gen'))) {
  const exported: Record<string, unknown> = await import(`./gen/${file}`);
  for (const value of Object.values(exported)) {
    if (isMessageType(value)) types.set(value.name, value);
  }
}

function isMessageType(value: unknown): value is MessageType<object> {
  return typeof value === 'object' && value !== null && 'byNumber' in value;
}

/** A decoded value in the form of the golden file: names in one spelling, zero values left out. */
function plain(type: AnyMessage, value: unknown): unknown {
  const entries = type.fields.flatMap((field) => {
    const item = (value as Record<string, unknown>)[field.name];
    const shown = plainField(field, item);
    return shown === undefined ? [] : [[spelling(field.name), shown]];
  });
  return Object.fromEntries(entries);
}

function plainField(field: Field, value: unknown): unknown {
  if (field.shape === Shape.list) {
    const list = value as readonly unknown[];
    return list.length === 0 ? undefined : list.map((item) => plainValue(field, item));
  }
  if (field.shape === Shape.map) {
    const entries = Object.entries(value as Record<string, unknown>);
    return entries.length === 0
      ? undefined
      : Object.fromEntries(entries.map(([key, item]) => [key, plainValue(field, item)]));
  }
  if (value === '' || value === 0 || value === 0n || value === false) return undefined;
  if (value instanceof Uint8Array && value.length === 0) return undefined;
  return value === undefined ? undefined : plainValue(field, value);
}

function plainValue(field: Field, value: unknown): unknown {
  if (field.kind === Kind.message) return plain((field.message as () => AnyMessage)(), value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  const integer = typeof value === 'bigint' || (typeof value === 'number' && field.kind !== Kind.double);
  if (integer) return Math.abs(Number(value)) > 2 ** 31 ? String(value) : Number(value);
  return value;
}

const spelling = (name: string): string => name.replaceAll('_', '').toLowerCase();

/** The golden value with its field names (not the keys of its maps) in that spelling. */
function respell(type: AnyMessage, json: unknown): unknown {
  const source = json as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(source).map(([name, value]) => {
      const field = type.fields.find((candidate) => spelling(candidate.name) === spelling(name));
      assert.ok(field, `${type.name} has no field ${name}`);
      if (field.kind !== Kind.message) return [spelling(name), value];
      const inner = (field.message as () => AnyMessage)();
      if (field.shape === Shape.list) return [spelling(name), (value as unknown[]).map((item) => respell(inner, item))];
      if (field.shape === Shape.map) {
        const entries = Object.entries(value as object).map(([key, item]) => [key, respell(inner, item)]);
        return [spelling(name), Object.fromEntries(entries)];
      }
      return [spelling(name), respell(inner, value)];
    }),
  );
}

test('every message of every schema has golden bytes', () => {
  const covered = new Set(golden.map(({ message }) => message));
  assert.deepEqual(
    [...types.keys()].filter((name) => !covered.has(name)),
    [],
  );
});

test("another implementation's bytes decode to its values, and encode to its bytes again", () => {
  for (const { message, hex, json } of golden) {
    const type = types.get(message);
    assert.ok(type, `no generated type for ${message}`);
    const value = decode(type, Buffer.from(hex, 'hex'));
    assert.deepEqual(plain(type, value), respell(type, json), message);
    assert.equal(Buffer.from(encode(type, value as never)).toString('hex'), hex, message);
  }
});
