import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDnsSubdomain, labelKeyFault, labelValueFault } from './names.ts';

test('label keys', () => {
  for (const good of ['a', 'A.b_c-1', 'example.com/a', 'x'.repeat(63), `${'a'.repeat(63)}.io/n`]) {
    assert.equal(labelKeyFault(good), undefined, good);
  }
  const bad: [string, RegExp][] = [
    ['', /not empty/],
    ['a b', /letters, digits/],
    ['-a', /letters, digits/],
    ['a.', /letters, digits/],
    ['x'.repeat(64), /63/],
    ['/a', /prefix/],
    ['Example.com/a', /prefix/],
    ['a..b/c', /prefix/],
    [`${'a.'.repeat(130)}b/c`, /prefix/],
    ['a/b/c', /one slash/],
    ['a/', /not empty/],
    ['a\n', /letters, digits/],
  ];
  for (const [key, fault] of bad) assert.match(labelKeyFault(key) ?? '', fault, JSON.stringify(key));
});

test('label values', () => {
  for (const good of ['', 'a', '1.2_3-x', 'x'.repeat(63)]) assert.equal(labelValueFault(good), undefined, good);
  for (const bad of [' ', 'a b', '.a', 'a-', 'x'.repeat(64), 'ä', 'a\n']) {
    assert.equal(typeof labelValueFault(bad), 'string', JSON.stringify(bad));
  }
});

test('DNS subdomains', () => {
  for (const good of ['a', 'node-1', '10.0.0.1', 'a.b.c']) assert.ok(isDnsSubdomain(good), good);
  for (const bad of ['', 'A', 'a_b', '-a', 'a.', 'a..b', 'x'.repeat(254)]) assert.ok(!isDnsSubdomain(bad), bad);
});
