import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certificatePem, pemBlocks } from './pem.ts';

const LONG = 'QUJD'.repeat(40);
const block = (inside: string, type = 'CERTIFICATE') => `-----BEGIN ${type}-----\n${inside}\n-----END ${type}-----\n`;

const CASES: Readonly<Record<string, readonly [string, readonly string[]]>> = {
  nothing: ['', []],
  one: [block('QUJD'), ['QUJD']],
  'lines are joined': [block('QUJD\nREVG'), ['QUJDREVG']],
  'text between blocks, other line ends': [
    `first\n${block('QUJD').replaceAll('\n', '\r\n')}second\n${block('REVG')}`,
    ['QUJD', 'REVG'],
  ],
  headers: [block('Proc-Type: 4\nX-Y: z\n\nQUJD'), ['QUJD']],
  'other types': [block('QUJD', 'TRUSTED CERTIFICATE'), ['QUJD']],
  'not base64': [block('QU?D') + block('REVG'), ['REVG']],
  'cut off': ['-----BEGIN CERTIFICATE-----\nQUJD\n', []],
  empty: [block(''), []],
};

for (const [name, [text, expected]] of Object.entries(CASES)) {
  test(`PEM: ${name}`, () => assert.deepEqual(pemBlocks(text), expected));
}

test('PEM: written in lines of 64, and read back', () => {
  const text = certificatePem([LONG, 'QUJD']);
  assert.ok(text.split('\n').every((line) => line.length <= 64));
  assert.deepEqual(pemBlocks(text), [LONG, 'QUJD']);
  assert.equal(certificatePem([]), '');
});
