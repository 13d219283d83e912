import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { captureOk } from '../../tools/machine/capture.ts';
import { ensurePackages } from '../../tools/machine/packages.ts';
import { createSystem, SYSTEM_PACKAGES } from './system/system.ts';
import { createWorlds, labPlace } from './worlds.ts';

const LOOK_MS = 50;
const worlds = createWorlds(labPlace(process.env));
const make = (etc: Readonly<Record<string, string>>, units: readonly string[]) =>
  worlds.make(
    (id) => createSystem({ place: labPlace(process.env), id, hostName: 'inside', etc, units, path: ['/opt/first'] }),
    async () => undefined,
  );

test('a world may have systemd as its process 1, and goes without a trace', async () => {
  await ensurePackages(SYSTEM_PACKAGES, console.error);
  const hostName = (await captureOk(['hostname'])).stdout;
  const unit =
    '[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sh -c "echo $PATH > /var/lib/kubelet/path"\n';
  let directory = '';
  {
    await using system = await make({ 'systemd/system/example.service': unit }, [
      'dbus.service',
      'systemd-logind.service',
      'example.service',
    ]);
    ({ directory } = system);
    const said = async (...argv: string[]) => (await system.exec(argv)).stdout.trim();
    assert.equal(await said('cat', '/proc/1/comm'), 'systemd');
    assert.equal(await said('hostname'), 'inside');
    assert.equal(await said('systemctl', 'is-active', 'systemd-logind.service', 'example.service'), 'active\nactive');
    assert.match(await said('loginctl', 'list-seats', '--no-legend'), /seat0|^$/);
    // The root of the system can be read from here, and its units have the PATH that was asked for.
    assert.match(await readFile(`${system.root}/var/lib/kubelet/path`, 'utf8'), /^\/opt\/first:\/usr\/local\/sbin:/);
    assert.ok((await captureOk(['losetup', '--all'])).stdout.includes(directory));
  }
  // The kernel gives the device back a moment after the last process of the world is gone.
  for (let waited = 0; (await captureOk(['losetup', '--all'])).stdout.includes(directory); waited += LOOK_MS) {
    assert.ok(waited < 120_000, 'the loop device of the world is still there');
    await delay(LOOK_MS);
  }
  assert.equal((await captureOk(['hostname'])).stdout, hostName);
  assert.deepEqual(await worlds.leftovers(), []);
});
