import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId, podUid, sandboxId } from '../api/ids.ts';
import { emptyObservation, type Observation, type ObservedContainer } from '../model/observation.ts';
import { createGarbage } from './garbage.ts';

function withDead(name: string, dead: number): Observation {
  const containers = Array.from({ length: dead }, (_, index) => ({
    id: containerId(`${name}-${index}`),
    sandboxId: sandboxId('s'),
    name,
    state: 'exited',
    finishedAt: 1000 - index,
  }));
  return { ...emptyObservation(podUid(name), name, 'n', 0), containers: containers as unknown as ObservedContainer[] };
}

test('the limit of the node is shared by the names that have dead containers anywhere on it', () => {
  const [web, db] = [withDead('web', 4), withDead('db', 1)];
  const removed = (total: number, all: readonly Observation[]) =>
    createGarbage({ minimumAge: 0, perContainer: 3, total }, () => all)(web, 10_000).actions.length;
  assert.equal(removed(-1, [web, db]), 1);
  assert.equal(removed(2, [web]), 2);
  assert.equal(removed(2, [web, db]), 3);
});
