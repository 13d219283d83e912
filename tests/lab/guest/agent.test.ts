/** The machine's side of the port, against a guest played by the test. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { type Agent, listenForAgent } from './agent.ts';

async function createPair(t: TestContext): Promise<{ agent: Agent; guest: Socket; requests: Interface; path: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-ts-agent-'));
  const path = join(directory, 'agent.sock');
  const agent = await listenForAgent(path);
  const guest = connect(path);
  t.after(async () => {
    agent.close(() => new Error('the test is over'));
    guest.destroy();
    await rm(directory, { recursive: true });
  });
  await once(guest, 'connect');
  return { agent, guest, requests: createInterface({ input: guest }), path };
}

async function nextRequest(requests: Interface): Promise<{ id: string; seconds: string; script: string }> {
  const [line] = (await once(requests, 'line')) as [string];
  const [id = '', seconds = '', script = ''] = line.split(' ');
  return { id, seconds, script: Buffer.from(script, 'base64').toString() };
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

test('answers find their commands, in any order and in any pieces', async (t) => {
  const { agent, guest, requests } = await createPair(t);
  guest.write('\nhello b1\n');
  assert.equal(await agent.booted(), 'b1');
  const first = agent.run('first', 1500);
  const asked = await nextRequest(requests);
  assert.deepEqual({ ...asked, id: '' }, { id: '', seconds: '1.5', script: 'first' });
  const second = agent.run('second', 1000);
  const askedToo = await nextRequest(requests);
  const answer = `${askedToo.id} 0 ${base64('two')} \n${asked.id} 4  ${base64('one')}\n`;
  guest.write(answer.slice(0, 5));
  guest.write(answer.slice(5));
  assert.deepEqual(await first, { code: 4, stdout: '', stderr: 'one' });
  assert.deepEqual(await second, { code: 0, stdout: 'two', stderr: '' });
});

test('a command that took too long is an error with its last words', async (t) => {
  const { agent, guest, requests } = await createPair(t);
  guest.write('hello b1\n');
  await agent.booted();
  const slow = agent.run('sleep 9', 1000);
  const { id } = await nextRequest(requests);
  guest.write(`${id} timeout ${base64('half')} \n`);
  await assert.rejects(slow, /took too long in the guest: sleep 9\nhalf/);
});

test('a new boot gives up what the old one was asked, and skips the line it did not finish', async (t) => {
  const { agent, guest, requests } = await createPair(t);
  guest.write('hello b1\n');
  await agent.booted();
  const lost = agent.run('x', 1000);
  const { id } = await nextRequest(requests);
  const rebooted = agent.booted('b1');
  guest.write(`${id} 0 AAAA`);
  guest.write('\nhello b2\n');
  await assert.rejects(lost, /started anew/);
  assert.equal(await rebooted, 'b2');
});

test('nothing is run before the guest is up', async (t) => {
  const { agent } = await createPair(t);
  await assert.rejects(agent.run('true', 1000), /not up yet/);
});

test('closing rejects everything that waits, with the first reason', async (t) => {
  const { agent, guest, requests, path } = await createPair(t);
  guest.write('hello b1\n');
  await agent.booted();
  const waiting = agent.run('x', 1000);
  const rebooting = agent.booted('b1');
  await nextRequest(requests);
  agent.close(() => new Error('power cut'));
  agent.close(() => assert.fail('asked for a second reason'));
  await assert.rejects(waiting, /power cut/);
  await assert.rejects(rebooting, /power cut/);
  await assert.rejects(agent.run('y', 1000), /power cut/);
  await assert.rejects(agent.booted(), /power cut/);
  assert.ok(!existsSync(path), 'no one listens any more');
});
