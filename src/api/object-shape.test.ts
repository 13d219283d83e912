import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ANYTHING, BOOL, INT32, list, map, QUANTITY, STRING, struct, TIME } from './object-schema.ts';
import { readShape } from './object-shape.ts';

const TYPE = struct({
  name: STRING,
  ready: BOOL,
  port: INT32,
  size: QUANTITY,
  at: TIME,
  labels: map(STRING),
  items: list(struct({ name: STRING })),
  raw: ANYTHING,
});

describe('the shape of an object', () => {
  it('is that object where all is well, with fields that no one knows', () => {
    const object = JSON.parse(
      `{"name":"a","ready":true,"port":80,"size":"1Gi","at":"2026-01-02T03:04:05Z","labels":{"__proto__":"x","constructor":"y"},
        "items":[{"name":"b","other":{"c":[1]}}],"raw":{"name":7},"unknown":null}`,
    );
    const read = readShape(TYPE, object);
    assert.ok(read.ok);
    assert.equal(read.value, object);
  });

  it('leaves out what is null, and shares the rest', () => {
    const object = { name: null, labels: { a: 'b' }, items: [{ name: null, n: 1 }, { name: 'c' }] };
    const read = readShape(TYPE, object);
    assert.ok(read.ok);
    assert.deepEqual(read.value, { labels: { a: 'b' }, items: [{ n: 1 }, { name: 'c' }] });
    assert.equal(read.value['labels'], object.labels);
    const odd = readShape(TYPE, JSON.parse('{"name":null,"labels":{"__proto__":"x","b":null}}'));
    assert.ok(odd.ok);
    assert.equal(JSON.stringify(odd.value), '{"labels":{"__proto__":"x"}}');
  });

  for (const [object, problem] of [
    [7, 'the object must be a map of fields; found number'],
    [{ name: 7 }, 'name must be a string; found number'],
    [{ ready: 'yes' }, 'ready must be true or false; found string'],
    [{ port: 1.5 }, 'port must be an integer; found number'],
    [{ size: {} }, 'size must be a string or a number; found object'],
    [{ at: 'soon' }, 'at must be a time; found string'],
    [{ labels: ['a'] }, 'labels must be a map; found a list'],
    [{ labels: { a: 1 } }, 'labels[a] must be a string; found number'],
    [{ items: {} }, 'items must be a list; found object'],
    [{ items: [null] }, 'items[0] must be a map of fields; found null'],
    [{ items: [{ name: [] }] }, 'items[0].name must be a string; found a list'],
  ] as const) {
    it(`is wrong: ${JSON.stringify(object)}`, () => {
      assert.deepEqual(readShape(TYPE, object), { ok: false, problem });
    });
  }
});
