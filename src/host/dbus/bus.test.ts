import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSystemClock } from '../../base/clock.ts';
import { codeOf } from '../../base/errors.ts';
import { createReadiness } from '../event-loop.ts';
import { createSyscalls } from '../syscalls.ts';
import { type Bus, createBus } from './bus.ts';
import { createOpenStream } from './stream.ts';
import { createSystemd } from './systemd.ts';
import { createTestPeer, type TestPeer } from './testing.ts';

const clock = createSystemClock();
const open = createOpenStream(createSyscalls(), createReadiness());
const never = new AbortController().signal;
const ECHO = { destination: 'a.b', path: '/a', interface: 'a.b', signature: 's' };
const MANAGER = { path: '/org/freedesktop/systemd1', interface: 'org.freedesktop.systemd1.Manager' };

// Waiting for a descriptor does not keep a process alive.
const keepAlive = setInterval(() => undefined, 1000);
test.after(() => clearInterval(keepAlive));

const busOf = (peer: TestPeer): Bus => createBus({ clock, open, uid: 0 }, [{ path: peer.path, isBus: true }]);

test('calls are answered, whatever their order, and errors have codes', async (t) => {
  const peer = await createTestPeer(t);
  peer.answer = ({ member, body }) =>
    member === 'Fail' ? { error: String(body[0]) } : { signature: 's', body: [`re: ${body[0]}`] };
  const bus = busOf(peer);
  t.after(bus.close);
  const texts = ['one', 'two', 'x'.repeat(300_000)];
  const replies = await Promise.all(texts.map((text) => bus.call({ ...ECHO, member: 'Echo', body: [text] }, never)));
  assert.deepEqual(
    replies.map(({ body }) => body[0]),
    texts.map((text) => `re: ${text}`),
  );
  const codeFor = async (error: string) =>
    codeOf(await bus.call({ ...ECHO, member: 'Fail', body: [error] }, never).catch((caught) => caught));
  assert.equal(await codeFor('org.freedesktop.systemd1.UnitExists'), 'exists');
  assert.equal(await codeFor('org.freedesktop.systemd1.NoSuchUnit'), 'notFound');
  assert.equal(await codeFor('org.freedesktop.DBus.Error.NoReply'), 'unavailable');
  assert.equal(await codeFor('com.example.Odd'), 'internal');
});

test('a call that hangs holds up no other, and ends at its deadline or with its signal', async (t) => {
  const peer = await createTestPeer(t);
  peer.answer = ({ member }) => (member === 'Hang' ? undefined : {});
  const bus = busOf(peer);
  t.after(bus.close);
  const ending = new AbortController();
  const aborted = bus.call({ ...ECHO, member: 'Hang', body: [''] }, ending.signal);
  const late = bus.call({ ...ECHO, member: 'Hang', body: [''], timeoutMs: 50 }, never).catch((error) => error);
  await bus.call({ ...ECHO, member: 'Echo', body: [''] }, never);
  ending.abort(new Error('enough'));
  await assert.rejects(aborted, /enough/);
  assert.equal(codeOf(await late), 'deadline');
});

test('a lost connection ends its calls, and the next call connects again with the same subscriptions', async (t) => {
  const peer = await createTestPeer(t);
  peer.answer = ({ member }) => (member === 'Hang' ? undefined : {});
  const bus = busOf(peer);
  t.after(bus.close);
  const seen: string[] = [];
  bus.subscribe(
    { sender: 'a.b', path: '/a', interface: 'a.b', member: 'Changed' },
    { onSignal: ([value]) => seen.push(String(value)), onLost: () => seen.push('lost') },
  );
  const hanging = bus.call({ ...ECHO, member: 'Hang', body: [''] }, never);
  while (!peer.calls.includes('Hang')) await clock.sleep(1, never);
  await bus.call({ ...ECHO, member: 'Echo', body: [''] }, never);
  peer.drop();
  assert.equal(codeOf(await hanging.catch((error) => error)), 'unavailable');
  await bus.call({ ...ECHO, member: 'Echo', body: [''] }, never);
  peer.signal({ path: '/a', interface: 'a.b', member: 'Changed', signature: 's', body: ['new'] });
  peer.signal({ path: '/other', interface: 'a.b', member: 'Changed', signature: 's', body: ['not ours'] });
  await bus.call({ ...ECHO, member: 'Echo', body: [''] }, never);
  assert.deepEqual(seen, ['lost', 'new']);
  assert.deepEqual(peer.calls, ['Hello', 'AddMatch', 'Hang', 'Echo', 'Hello', 'AddMatch', 'Echo', 'Echo']);
});

test('no one listens, or what listens does not speak D-Bus', async (t) => {
  const nowhere = createBus({ clock, open, uid: 0 }, [{ path: '/nowhere', isBus: true }]);
  const refused = await nowhere.call({ ...ECHO, member: 'Echo', body: [''] }, never).catch((error) => error);
  assert.equal(codeOf(refused), 'unavailable');
  assert.match(String(refused), /no D-Bus connection: connect \/nowhere/);
  const peer = await createTestPeer(t);
  peer.answer = () => undefined;
  const bus = busOf(peer);
  t.after(bus.close);
  const call = bus.call({ ...ECHO, member: 'Echo', body: [''] }, never).catch((error) => error);
  while (!peer.calls.includes('Echo')) await clock.sleep(1, never);
  peer.send(Buffer.alloc(64, 0xff));
  assert.match(String((await call).message), /does not speak D-Bus/);
});

test('a unit is there when its job is done, also where that is known before the reply is looked at', async (t) => {
  const peer = await createTestPeer(t);
  let job = 0;
  peer.answer = ({ member, body }) => {
    if (member !== 'StartTransientUnit' && member !== 'StopUnit') return {};
    job += 1;
    const path = `/job/${job}`;
    const result = body[0] === 'bad.slice' ? 'failed' : 'done';
    const removed = { ...MANAGER, member: 'JobRemoved', signature: 'uoss' };
    queueMicrotask(() => peer.signal({ ...removed, body: [job, path, String(body[0]), result] }));
    return { signature: 'o', body: [path] };
  };
  const bus = busOf(peer);
  t.after(bus.close);
  const systemd = createSystemd(clock, bus);
  await Promise.all(['a.slice', 'b.slice'].map((unit) => systemd.startTransientUnit(unit, [], never)));
  await systemd.stopUnit('a.slice', never);
  await assert.rejects(systemd.startTransientUnit('bad.slice', [], never), /did not create unit bad.slice: failed/);
});

test('what is there already is no failure, nor is what is gone; a systemd that is away is waited for', async (t) => {
  const peer = await createTestPeer(t);
  let away = 2;
  peer.answer = ({ member }) => {
    if (member === 'StartTransientUnit') return { error: 'org.freedesktop.systemd1.UnitExists' };
    if (member === 'AddMatch') return {};
    if (member === 'SetUnitProperties' && away > 0) {
      away -= 1;
      if (away === 0) peer.drop();
      return { error: 'org.freedesktop.DBus.Error.NoReply' };
    }
    return member === 'SetUnitProperties' ? {} : { error: 'org.freedesktop.systemd1.NoSuchUnit' };
  };
  const bus = busOf(peer);
  t.after(bus.close);
  const systemd = createSystemd(clock, bus);
  await systemd.startTransientUnit('a.slice', [], never);
  await systemd.stopUnit('a.slice', never);
  await systemd.setUnitProperties('a.slice', [], never);
  assert.equal(peer.calls.filter((member) => member === 'SetUnitProperties').length, 3);
});
