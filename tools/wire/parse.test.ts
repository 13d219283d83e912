import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSchema } from './parse.ts';

const schema = `// A title
// on two lines.
syntax = "proto3";

package a.b;

import "other.proto";

// What it serves.
service S {
  rpc One(M) returns (M);
  rpc Many(M) returns (stream c.Other);
}

// About M.
message M {
  enum Color {
    RED = 0;
    BLUE = 7;
  }
  message Inner {}
  // About name.
  string name = 1;
  repeated int64 sizes = 2 [jstype = JS_NUMBER];
  map<string, Inner> inner = 3;
  optional bool flag = 4;
  oneof choice {
    string left = 5;
    Color right = 6;
  }
}
`;

test('reads everything that our schemas use', () => {
  const plain = { doc: '', shape: 'one', oneof: undefined, asNumber: false };
  assert.deepEqual(parseSchema('x.proto', schema), {
    path: 'x.proto',
    title: 'A title on two lines.',
    package: 'a.b',
    imports: ['other.proto'],
    services: [
      {
        name: 'S',
        methods: [
          { name: 'One', request: 'M', response: 'M', serverStream: false },
          { name: 'Many', request: 'M', response: 'c.Other', serverStream: true },
        ],
      },
    ],
    messages: [
      {
        name: 'M',
        doc: 'About M.',
        fields: [
          { ...plain, name: 'name', doc: 'About name.', number: 1, type: 'string' },
          { ...plain, name: 'sizes', number: 2, type: 'int64', shape: 'list', asNumber: true },
          { ...plain, name: 'inner', number: 3, type: 'Inner', shape: 'map' },
          { ...plain, name: 'flag', number: 4, type: 'bool', shape: 'optional' },
          { ...plain, name: 'left', number: 5, type: 'string', shape: 'optional', oneof: 'M.choice' },
          { ...plain, name: 'right', number: 6, type: 'Color', shape: 'optional', oneof: 'M.choice' },
        ],
      },
      { name: 'M.Inner', doc: '', fields: [] },
    ],
    enums: [
      {
        name: 'M.Color',
        doc: '',
        values: [
          { name: 'RED', number: 0 },
          { name: 'BLUE', number: 7 },
        ],
      },
    ],
  });
});

const refused: readonly [string, string, RegExp][] = [
  [
    'an option we do not know',
    'message M {\n  string a = 1 [deprecated = true];\n}',
    /^x\.proto:2: not a field we know: string a/,
  ],
  ['a map with numbers as keys', 'message M {\n  map<int32, string> a = 1;\n}', /:2: not a field/],
  ['a repeated map', 'message M {\n  repeated map<string, string> a = 1;\n}', /:2: not a field/],
  ['a number that is taken', 'message M {\n  string a = 1;\n  string b = 1;\n}', /:3: name or number is taken/],
  ['a client stream', 'service S {\n  rpc A(stream M) returns (M);\n}', /:2: not a method/],
  ['a reserved range', 'message M {\n  reserved 5;\n}', /:2: not a field/],
  ['a message that is not closed', 'message M {', /M is not closed/],
  ['a closing brace too many', '}', /nothing to close/],
  ['a oneof outside a message', 'oneof x {\n}', /belongs into a message/],
  ['other text', 'option go_package = "x";', /not a declaration/],
  ['a negative enum value', 'enum E {\n  A = -1;\n}', /not an enum value/],
];

for (const [name, text, expected] of refused) {
  test(`refuses ${name}`, () => assert.throws(() => parseSchema('x.proto', text), { message: expected }));
}
