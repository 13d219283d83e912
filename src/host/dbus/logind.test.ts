import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSystemClock } from '../../base/clock.ts';
import { codeOf } from '../../base/errors.ts';
import { createReadiness } from '../event-loop.ts';
import { createSyscalls } from '../syscalls.ts';
import { createBus } from './bus.ts';
import { createLogind } from './logind.ts';
import { createOpenStream } from './stream.ts';
import { createTestPeer } from './testing.ts';

const never = new AbortController().signal;
const MANAGER = { path: '/org/freedesktop/login1', interface: 'org.freedesktop.login1.Manager' };

test('logind says how long it waits and what it does, and reports a shutdown of any sender', async (t) => {
  const peer = await createTestPeer(t);
  const open = createOpenStream(createSyscalls(), createReadiness());
  const bus = createBus({ clock: createSystemClock(), open, uid: 0 }, [{ path: peer.path, isBus: true }]);
  t.after(bus.close);
  const asked: string[] = [];
  peer.answer = ({ member, body }) => {
    asked.push([member, ...body].join(' '));
    if (member === 'AddMatch' || member === 'KillUnit') return {};
    if (member === 'Inhibit') return { error: 'org.freedesktop.login1.OperationInProgress' };
    const value =
      body[1] === 'InhibitDelayMaxUSec' ? { signature: 't', value: 5_000_000n } : { signature: 'b', value: true };
    return { signature: 'v', body: [value] };
  };
  const logind = createLogind(bus);
  const seen: boolean[] = [];
  logind.watch({ onShutdown: (isActive) => seen.push(isActive), onLost: () => undefined });
  assert.equal(await logind.inhibitDelay(never), 5_000);
  assert.equal(await logind.isPreparing(never), true);
  assert.equal(codeOf(await logind.inhibit(never).catch((error) => error)), 'conflict');
  await logind.reload(never);
  for (const value of [true, false])
    peer.signal({ ...MANAGER, member: 'PrepareForShutdown', signature: 'b', body: [value] });
  await logind.isPreparing(never);
  assert.deepEqual(seen, [true, false]);
  const [rule, ...calls] = asked;
  assert.doesNotMatch(rule ?? '', /sender/);
  assert.deepEqual(calls.slice(2, 4), [
    'Inhibit shutdown kubelet Kubelet needs time to handle node shutdown delay',
    'KillUnit systemd-logind.service all 1',
  ]);
});
