import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseIdRange, defaultIdSpace, encodeIdRange, idSpaceFault, parseIdRange, parseSubIds } from './id-ranges.ts';

const small = { first: 65_536, length: 3 * 65_536, perPod: 65_536 };

test('a free range is found from any start, and none where all are taken', () => {
  const cases: readonly { taken: readonly number[]; start: number; want: number | undefined }[] = [
    { taken: [], start: 0, want: 65_536 },
    { taken: [], start: 2, want: 196_608 },
    { taken: [], start: 3, want: 65_536 },
    { taken: [196_608], start: 2, want: 65_536 },
    { taken: [65_536, 196_608], start: 2, want: 131_072 },
    { taken: [65_536, 131_072, 196_608], start: 1, want: undefined },
  ];
  for (const { taken, start, want } of cases) {
    assert.equal(chooseIdRange(small, new Set(taken), start)?.hostId, want, `${taken} from ${start}`);
  }
});

test('a range survives its file, which has the form of the reference', () => {
  const range = { hostId: 366_870_528, length: 65_536 };
  const text = encodeIdRange(range);
  const mapping = '[{"hostId":366870528,"containerId":0,"length":65536}]';
  assert.equal(text, `{"uidMappings":${mapping},"gidMappings":${mapping}}`);
  assert.deepEqual(parseIdRange(text), { ok: true, value: range });
});

test('a broken file is no range', () => {
  const one = '{"hostId":65536,"containerId":0,"length":65536}';
  const other = '{"hostId":131072,"containerId":0,"length":65536}';
  const inner = '{"hostId":65536,"containerId":1,"length":65536}';
  const broken = [
    '',
    'null',
    '{',
    '[]',
    `{"uidMappings":[${one}]}`,
    `{"uidMappings":[${one}],"gidMappings":[${other}]}`,
    `{"uidMappings":[${one},${other}],"gidMappings":[${one},${other}]}`,
    `{"uidMappings":[${inner}],"gidMappings":[${inner}]}`,
    '{"uidMappings":[{"hostId":"1","containerId":0,"length":1}],"gidMappings":[]}',
  ];
  for (const text of broken) assert.equal(parseIdRange(text).ok, false, text);
});

test('the space of ids', () => {
  assert.equal(idSpaceFault(defaultIdSpace(), 110), undefined);
  assert.equal(defaultIdSpace().length, 2 ** 32 - 65_536);
  assert.deepEqual(parseSubIds('0: kubelet 65536 2147483648\n'), {
    ok: true,
    value: { first: 65_536, length: 2_147_483_648, perPod: 65_536 },
  });
  for (const text of ['', '0: kubelet 65536', '0: kubelet x 1', '0: kubelet 1 2\n1: kubelet 3 4']) {
    assert.equal(parseSubIds(text).ok, false, JSON.stringify(text));
  }
  assert.match(idSpaceFault(small, 4) ?? '', /not enough for 4 pods/);
  assert.match(idSpaceFault({ ...small, first: 1 }, 1) ?? '', /first id \(1\)/);
  assert.match(idSpaceFault({ ...small, first: 0 }, 1) ?? '', /first id \(0\)/);
  assert.match(idSpaceFault({ ...small, length: 100_000 }, 1) ?? '', /number of ids/);
  assert.match(idSpaceFault({ ...small, perPod: 1000 }, 1) ?? '', /ids for each pod/);
});
