import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { renderConfigz } from './configz.ts';
import { applyFileDefaults } from './defaults.ts';
import type { Kind, StructKind } from './kinds.ts';
import { kubeletConfiguration } from './kubelet-configuration.ts';

interface Fact {
  readonly struct: string;
  readonly field: string;
  readonly type: string;
  readonly fallback: string;
}

const facts: readonly Fact[] = readFileSync(new URL('../testdata/kubelet-configuration.tsv', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [struct = '', field = '', type = '', fallback = ''] = line.split('\t');
    return { struct, field, type: type.replace(/ .*/, ''), fallback };
  });

// Strings that have a type name of their own in the reference.
const STRING_TYPES = new Set([
  'KubeletAuthorizationMode',
  'ImagePullCredentialsVerificationPolicy',
  'ResourceChangeDetectionStrategy',
  'MemoryReservationPolicy',
]);
const NAMED_TYPES: Readonly<Record<string, string>> = { ResourceList: 'map[string]Quantity' };

/** Compares a kind with the type that the reference gives the field, following structs by their name. */
function assertSameType(kind: Kind, typeName: string, path: string): void {
  const type = NAMED_TYPES[typeName] ?? (STRING_TYPES.has(typeName) ? 'string' : typeName);
  switch (kind.kind) {
    case 'list':
      assert.ok(type.startsWith('[]'), `${path}: ${type} is no list`);
      assertSameType(kind.item, type.slice(2), `${path}[]`);
      break;
    case 'map':
      assert.ok(type.startsWith('map[string]'), `${path}: ${type} is no map`);
      assertSameType(kind.item, type.slice('map[string]'.length), `${path}.*`);
      break;
    case 'struct':
      assertSameFields(kind, type, path);
      break;
    case 'int': {
      const name = kind.min === 0 ? 'uint32' : kind.max === 2 ** 31 - 1 ? 'int32' : 'int64';
      assert.equal(name, type, path);
      break;
    }
    default: {
      const names = { bool: 'bool', float: 'float64', string: 'string', duration: 'Duration', quantity: 'Quantity' };
      assert.equal(names[kind.kind], type, path);
    }
  }
}

function assertSameFields(kind: StructKind, name: string, path: string): void {
  const known = facts.filter((fact) => fact.struct === name);
  assert.deepEqual(
    Object.keys(kind.fields),
    known.map((fact) => fact.field),
    `${path || name}: fields and their order`,
  );
  for (const fact of known) {
    const field = kind.fields[fact.field];
    assert.ok(field);
    assertSameType(field.type, fact.type, `${path}.${fact.field}`);
  }
}

test('the table has the fields of the reference, in its order, with its types', () => {
  assertSameFields(kubeletConfiguration, 'KubeletConfiguration', '');
});

test('every default is the one of the reference, in the form of configz', () => {
  const { kubeletconfig } = renderConfigz(applyFileDefaults({})) as { kubeletconfig: { [name: string]: unknown } };
  for (const { field, fallback } of facts.filter(({ struct }) => struct === 'KubeletConfiguration')) {
    const expected: unknown = fallback === '' ? undefined : JSON.parse(fallback);
    const shown = kubeletconfig[field];
    // The list of facts shows some values that configz leaves out because they are zero.
    if (shown === undefined) assert.ok(!expected, `${field}: ${fallback} is missing`);
    else if (field === 'authentication') assert.deepEqual(shown, { ...(expected as object), x509: {} }, field);
    else assert.deepEqual(shown, expected, field);
  }
});
