import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createSystemClock } from '../base/clock.ts';
import { createSilentLogger } from '../base/logger.ts';
import type { SupervisorDeps } from '../base/supervise.ts';
import { createTestSupervisor, throwEachOnce } from '../base/supervise-testing.ts';
import { createHost } from '../host/host.ts';
import type { NodeEvent } from '../model/event.ts';
import { Registration } from '../wire/gen/plugin-registration-v1.ts';
import { createGrpcServer, type GrpcServer, unaryHandler } from '../wire/grpc-server.ts';
import { createPlugins, type Plugins } from './plugins.ts';

interface Ground {
  readonly directory: string;
  readonly plugins: Plugins;
  readonly calls: readonly string[];
  readonly events: readonly NodeEvent[];
  serve(name: string, info?: Info): Promise<TestPlugin>;
  until(what: string, is: () => boolean): Promise<void>;
  start(): void;
}

interface TestPlugin {
  readonly notified: readonly string[];
  stop(): Promise<void>;
}

interface Info {
  readonly type?: string;
  readonly versions?: readonly string[];
  readonly hang?: boolean;
}

async function ground(t: TestContext, faults: Partial<SupervisorDeps> = {}): Promise<Ground> {
  const directory = await mkdtemp(join(tmpdir(), 'plugins-'));
  const clock = createSystemClock();
  const calls: string[] = [];
  const events: NodeEvent[] = [];
  const servers: GrpcServer[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const check of waiting) check();
  };
  const stopping = new AbortController();
  const { inotify } = createHost().files;
  const plugins = createPlugins(
    {
      clock,
      log: createSilentLogger(),
      supervisor: createTestSupervisor(clock, faults),
      inotify,
      record: (event) => {
        events.push(event);
        wake();
      },
      handlers: {
        Known: {
          validate: (_name, versions) => (versions.includes('v1') ? undefined : 'v1 is not among them'),
          register: (name) => {
            calls.push(`register ${name}`);
            wake();
            return Promise.resolve();
          },
          deregister: (name) => {
            calls.push(`deregister ${name}`);
            wake();
          },
        },
      },
    },
    { directory },
  );
  t.after(async () => {
    stopping.abort(new Error('the test is over'));
    await plugins.stop?.();
    await Promise.all(servers.map((server) => server.close()));
    inotify.close();
    await rm(directory, { recursive: true, force: true });
  });
  return {
    directory,
    plugins,
    calls,
    events,
    start: () => void plugins.start(stopping.signal),
    until: (_what, is) =>
      new Promise((resolve) => {
        const check = () => {
          if (!is()) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    serve: async (name, { type = 'Known', versions = ['v1'], hang = false } = {}) => {
      const notified: string[] = [];
      const server = createGrpcServer([
        unaryHandler(Registration.getInfo, async (_request, { signal }) => {
          if (hang) await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
          return { type, name, endpoint: '', supportedVersions: versions };
        }),
        unaryHandler(Registration.notifyRegistrationStatus, ({ pluginRegistered, error }) => {
          notified.push(pluginRegistered ? 'registered' : error);
          wake();
          return {};
        }),
      ]);
      servers.push(server);
      await server.listen(join(directory, name));
      return { notified, stop: () => server.close() };
    },
  };
}

test('a socket that is there at the start, one that comes later and one in a directory of its own are registered', async (t) => {
  const { directory, serve, start, until, calls } = await ground(t);
  const early = await serve('early.sock');
  start();
  await until('the early one', () => early.notified.includes('registered'));
  const late = await serve('late.sock');
  await until('the late one', () => late.notified.includes('registered'));
  await mkdir(join(directory, 'deep/er'), { recursive: true });
  const deep = await serve('deep/er/deep.sock');
  await until('the deep one', () => deep.notified.includes('registered'));
  await writeFile(join(directory, 'file'), '');
  await serve('.hidden.sock');
  assert.deepEqual(calls, ['register early.sock', 'register late.sock', 'register deep/er/deep.sock']);
});

test('a plugin whose socket goes is deregistered, and one made again under the same name is registered again', async (t) => {
  const { serve, start, until, calls } = await ground(t);
  start();
  const first = await serve('one.sock');
  await until('registered', () => first.notified.includes('registered'));
  await first.stop();
  await until('deregistered', () => calls.includes('deregister one.sock'));
  const second = await serve('one.sock');
  await until('registered again', () => second.notified.includes('registered'));
  assert.deepEqual(calls, ['register one.sock', 'deregister one.sock', 'register one.sock']);
});

test('an unknown type and a version that does not fit are answered with the reason', async (t) => {
  const { directory, serve, start, until, events } = await ground(t);
  start();
  const strange = await serve('strange.sock', { type: 'Strange' });
  const text = `RegisterPlugin error -- no handler registered for plugin type: Strange at socket ${directory}/strange.sock`;
  await until('answered', () => strange.notified.includes(text));
  const old = await serve('old.sock', { versions: ['v0'] });
  await until('answered', () =>
    old.notified.includes('RegisterPlugin error -- plugin validation failed with err: v1 is not among them'),
  );
  await until('reported', () => events.filter(({ reason }) => reason === 'PluginRegistrationFailed').length >= 2);
});

test('a plugin that hangs delays no other', async (t) => {
  const { serve, start, until, calls } = await ground(t);
  start();
  await serve('hangs.sock', { hang: true });
  const fine = await serve('works.sock');
  await until('the other', () => fine.notified.includes('registered'));
  assert.deepEqual(calls, ['register works.sock']);
});

test('a registration that throws is tried again', async (t) => {
  const beforeRound = throwEachOnce('plugin registry', 'plugin registration');
  const { serve, start, until } = await ground(t, { beforeRound });
  start();
  const plugin = await serve('one.sock');
  await until('registered', () => plugin.notified.includes('registered'));
});
