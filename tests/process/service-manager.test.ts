import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { before, describe, it } from 'node:test';
import { ensurePackages } from '../../tools/machine/packages.ts';
import { CGROUP_V2, freePort, startKubelet, temporaryDirectory } from './kubelet.ts';

/** A stand-in for systemd: prints what arrives at a datagram socket, which Node has none of. */
const LISTEN = `import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1].replace('@', chr(0), 1))
print('bound', flush=True)
while True: print(s.recv(999).decode(), flush=True)`;

const unit = resolve(import.meta.dirname, '../../tools/release/kubelet.service');

describe('systemd', () => {
  before(() => ensurePackages(['python3-minimal'], console.error));

  for (const kind of ['file', 'abstract'] as const) {
    it(`is told when the kubelet is ready and when it stops (${kind} socket)`, async () => {
      const directory = temporaryDirectory();
      const socket = kind === 'file' ? join(directory, 'notify') : `@kubelet-test-${process.pid}`;
      const listener = spawn('python3', ['-c', LISTEN, socket]);
      let heard = '';
      listener.stdout.on('data', (chunk) => {
        heard += chunk;
      });
      await once(listener.stdout, 'data');
      await using kubelet = await startKubelet({ directory, prepare: `export NOTIFY_SOCKET=${socket}` });
      await kubelet.up();
      while (!heard.includes('READY=1')) await once(listener.stdout, 'data');
      kubelet.signal('SIGTERM');
      await kubelet.exited;
      while (!heard.includes('STOPPING=1')) await once(listener.stdout, 'data');
      listener.kill();
      rmSync(directory, { recursive: true });
      assert.equal(heard, 'bound\nREADY=1\nSTOPPING=1\n');
    });
  }

  it('that does not listen is only a warning', async () => {
    await using kubelet = await startKubelet({ prepare: 'export NOTIFY_SOCKET=/nowhere/notify' });
    await kubelet.up();
    await kubelet.waitForLog(/W.*"Failed to notify the service manager" err=".*ENOENT.*" state="READY=1"/);
  });

  it('gets a unit whose flags and sample configuration the kubelet takes', async () => {
    const [, line = ''] = /^ExecStart=\S+ (.*) \$KUBELET_EXTRA_ARGS$/m.exec(readFileSync(unit, 'utf8')) ?? [];
    const sample = readFileSync(join(unit, '../kubelet.yaml'), 'utf8');
    assert.match(line, /^--config=\/etc\/kubernetes\/kubelet\.yaml$/);
    const directory = temporaryDirectory();
    const healthzPort = await freePort();
    const port = await freePort();
    const configText = `${sample}\nhealthzPort: ${healthzPort}\nport: ${port}\noomScoreAdj: 0\npodLogsDir: ${directory}/logs\n`;
    await using kubelet = await startKubelet({
      directory,
      configText,
      prepare: CGROUP_V2,
      healthzPort,
      server: { address: '127.0.0.1', port },
      flags: ['--strict-config'],
    });
    await kubelet.up();
    assert.equal((await kubelet.configz())['cgroupDriver'], 'cgroupfs');
    kubelet.signal('SIGTERM');
    await kubelet.exited;
    rmSync(directory, { recursive: true });
  });

  it('finds no mistake in the unit', (t) => {
    const { status, stderr, error } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
    if (error !== undefined) return t.diagnostic('systemd-analyze is not installed');
    // The program is not installed on a machine that tests: that is all it may complain about.
    const complaints = stderr
      .split('\n')
      .filter((text) => text.includes('kubelet.service') && !text.includes('not executable'));
    assert.deepEqual(
      complaints.filter((text) => !text.includes('not found')),
      [],
      `${status}`,
    );
  });
});
