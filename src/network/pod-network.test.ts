import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createSilentLogger, type Logger, type LogValues } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor, throwOnce } from '../base/supervise-testing.ts';
import { createPodNetwork, type PodNetworkConfig } from './pod-network.ts';
import { renderKubenet, runtimeDirectories } from './rules/kubenet.ts';

function setUp(t: TestContext, config: Partial<PodNetworkConfig>, plugins: readonly string[] = []) {
  const directory = mkdtempSync(join(tmpdir(), 'pod-network-'));
  const end = new AbortController();
  t.after(() => {
    end.abort();
    rmSync(directory, { recursive: true });
  });
  const [confDir, binDir] = [join(directory, 'net.d'), join(directory, 'bin')];
  mkdirSync(binDir);
  for (const name of plugins) writeFileSync(join(binDir, name), '');
  const clock = createManualClock();
  const told: string[] = [];
  const logged: string[] = [];
  const note = (message: string, values?: LogValues) => void logged.push(`${message} ${JSON.stringify(values)}`);
  const log: Logger = { ...createSilentLogger(), info: note, warn: note, error: note };
  let answers = true;
  const runtime = {
    status: () => Promise.resolve({ info: { config: JSON.stringify({ cni: { confDir: '/elsewhere', binDir } }) } }),
    setPodCidr: (cidr: string) => {
      if (!answers) return Promise.reject(new Error('the runtime is away'));
      told.push(cidr);
      return Promise.resolve();
    },
  };
  const supervisor = createTestSupervisor(clock, { beforeRound: throwOnce('pod network') });
  const network = createPodNetwork(
    { clock, log, supervisor, runtime },
    { plugin: '', confDir, binDirs: [binDir], hairpinMode: 'promiscuous-bridge', podCidr: '', ...config },
  );
  return {
    ...{ network, clock, told, logged, confDir, signal: end.signal },
    setAnswers: (value: boolean) => {
      answers = value;
    },
    until: async (isTrue: () => boolean) => {
      for (let turn = 0; turn < 2000 && !isTrue(); turn += 1) {
        await clock.advance(100);
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.ok(isTrue(), logged.join('\n'));
    },
  };
}

const NEEDED = ['bridge', 'host-local', 'portmap'];

describe('pod network', () => {
  it('of a standalone node is told to the runtime, also when that comes later', async (t) => {
    const { network, told, setAnswers, signal, until, logged } = setUp(t, { podCidr: '10.1.0.0/24' });
    setAnswers(false);
    network.start(signal);
    await until(() => logged.some((line) => line.startsWith('Error updating pod CIDR')));
    setAnswers(true);
    await until(() => told.length > 0);
    assert.deepEqual(told, ['10.1.0.0/24']);
  });

  it('of kubenet is written for the runtime before that is told', async (t) => {
    const { network, told, confDir, signal } = setUp(t, { plugin: 'kubenet' }, [...NEEDED, 'bandwidth']);
    await network.setPodCidr('10.1.0.0/24,fd00::/64', signal);
    const { name, plugins } = JSON.parse(readFileSync(join(confDir, '10-kubenet.conflist'), 'utf8'));
    assert.equal(name, 'kubenet');
    assert.deepEqual(
      plugins.map(({ type }: { type: string }) => type),
      ['bridge', 'portmap', 'bandwidth'],
    );
    assert.deepEqual(plugins[0].ipam.ranges, [[{ subnet: '10.1.0.0/24' }], [{ subnet: 'fd00::/64' }]]);
    assert.deepEqual([plugins[0].promiscMode, plugins[0].hairpinMode], [true, false]);
    assert.deepEqual(told, ['10.1.0.0/24,fd00::/64']);
  });

  it('of kubenet without its plugins is an error that names them', async (t) => {
    const { network, told, signal } = setUp(t, { plugin: 'kubenet' }, ['bridge']);
    await assert.rejects(network.setPodCidr('10.1.0.0/24', signal), /needs the CNI plugins host-local, portmap/);
    assert.deepEqual(told, []);
  });

  it('whose directories the runtime does not use is reported', async (t) => {
    const { network, signal, until, logged } = setUp(t, { plugin: 'cni' });
    network.start(signal);
    await until(() => logged.some((line) => line.includes('the container runtime reads /elsewhere')));
    assert.ok(!logged.some((line) => line.includes('--cni-bin-dir')));
  });
});

describe('the network of kubenet', () => {
  it('follows hairpinMode', () => {
    const bridge = (hairpinMode: string) =>
      JSON.parse(renderKubenet({ podCidr: '10.1.0.0/24', hairpinMode, plugins: new Set(NEEDED) })).plugins[0];
    assert.deepEqual([bridge('hairpin-veth').hairpinMode, bridge('hairpin-veth').promiscMode], [true, false]);
    assert.deepEqual([bridge('none').hairpinMode, bridge('none').promiscMode], [false, false]);
  });

  it('is compared with what a runtime says of itself, if it does', () => {
    assert.deepEqual(runtimeDirectories(undefined), { confDir: '', binDirs: [] });
    assert.deepEqual(runtimeDirectories('no JSON'), { confDir: '', binDirs: [] });
    assert.deepEqual(runtimeDirectories('{"cni":{"binDir":"/a","confDir":"/b"}}'), { confDir: '/b', binDirs: ['/a'] });
    assert.deepEqual(runtimeDirectories('{"cni":{"binDir":"","binDirs":["/a","/c"]}}').binDirs, ['/a', '/c']);
  });
});
