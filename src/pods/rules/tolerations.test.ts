import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Toleration } from '../../api/pod.ts';
import { untolerated } from './tolerations.ts';

const taint = { key: 'level', value: '5', effect: 'NoExecute' };
const isTolerated = (toleration: Toleration, comparison = true) =>
  untolerated([taint], [toleration], { comparison }) === undefined;

test('which taints a toleration tolerates', () => {
  const cases: readonly (readonly [Toleration, boolean])[] = [
    [{ operator: 'Exists' }, true],
    [{ key: 'level', operator: 'Exists' }, true],
    [{ key: 'other', operator: 'Exists' }, false],
    [{ key: 'level', operator: 'Exists', effect: 'NoExecute' }, true],
    [{ key: 'level', operator: 'Exists', effect: 'NoSchedule' }, false],
    [{ key: 'level', value: '5' }, true],
    [{ key: 'level', operator: 'Equal', value: '6' }, false],
    [{ key: 'level' }, false],
    [{ key: 'level', operator: 'Lt', value: '6' }, true],
    [{ key: 'level', operator: 'Lt', value: '5' }, false],
    [{ key: 'level', operator: 'Gt', value: '4' }, true],
    [{ key: 'level', operator: 'Gt', value: 'four' }, false],
  ];
  for (const [toleration, expected] of cases)
    assert.equal(isTolerated(toleration), expected, JSON.stringify(toleration));
  assert.equal(isTolerated({ key: 'level', operator: 'Lt', value: '6' }, false), false);
});

test('only taints that end pods count', () => {
  assert.equal(untolerated([{ ...taint, effect: 'NoSchedule' }], [], { comparison: false }), undefined);
  assert.equal(untolerated([taint], [], { comparison: false }), taint);
});
