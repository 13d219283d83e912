import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LinkEvent, type LinkLife, nextLinkLife } from './link-life.ts';

const reason = new Error('renewed');
const retire: LinkEvent = { kind: 'retire', reason };
const destroy: LinkEvent = { kind: 'destroy', reason };
const callOver: LinkEvent = { kind: 'callOver' };

const cases: readonly [string, LinkLife, LinkEvent, number, LinkLife, string][] = [
  ['an open link stays open when a call ends', 'open', callOver, 0, 'open', 'none'],
  ['an idle link closes at once when it is retired', 'open', retire, 0, 'closed', 'close'],
  ['a busy link cuts its endless calls when it is retired', 'open', retire, 2, 'retiring', 'cutEndless'],
  ['a link that is retired again cuts the endless calls again', 'retiring', retire, 2, 'retiring', 'cutEndless'],
  ['a retiring link waits for its other calls', 'retiring', callOver, 1, 'retiring', 'none'],
  ['a retiring link closes after its last call', 'retiring', callOver, 0, 'closed', 'close'],
  ['an open link can be destroyed', 'open', destroy, 2, 'closed', 'destroy'],
  ['a retiring link can be destroyed', 'retiring', destroy, 2, 'closed', 'destroy'],
  ['a closed link is destroyed for good', 'closed', destroy, 0, 'closed', 'destroy'],
  ['a closed link needs no retirement', 'closed', retire, 0, 'closed', 'none'],
  ['a closed link ignores the end of its calls', 'closed', callOver, 0, 'closed', 'none'],
];
for (const [title, life, event, active, nextLife, effect] of cases) {
  test(title, () => {
    const next = nextLinkLife(life, event, active);
    assert.deepEqual([next.life, next.effect.kind], [nextLife, effect]);
    if ('reason' in next.effect) assert.equal(next.effect.reason, reason);
  });
}
