/** The machine from a tree of files like the kernel's, with more sockets and memory nodes than this one has. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { coreCount, hugePageBytes, processorsOf, socketCount } from '../model/machine.ts';
import { readCloud, readDisks, readNetworkDevices } from './machine-devices.ts';
import { parseKilohertz, parseVendor, readMachine } from './machine-info.ts';
import { readHugePages, readMemoryNodes } from './machine-topology.ts';

function treeOf(t: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'machine-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${text}\n`);
  }
  return root;
}

/** Four cores in each of two sockets, two threads in each core; the L3 of a socket is shared by two cores each. */
function twoSockets(): Record<string, string> {
  const files: Record<string, string> = {};
  const cache = (cpu: number, index: number, level: number, kilobytes: number, shared: string) => {
    const at = `cpu/cpu${cpu}/cache/index${index}`;
    const type = index === 0 ? 'Data' : 'Unified';
    Object.assign(files, { [`${at}/id`]: `${cpu % 8}`, [`${at}/level`]: `${level}`, [`${at}/size`]: `${kilobytes}K` });
    Object.assign(files, { [`${at}/type`]: type, [`${at}/shared_cpu_list`]: shared });
  };
  for (let cpu = 0; cpu < 16; cpu += 1) {
    const [socket, core] = [Math.floor((cpu % 8) / 4), cpu % 4];
    files[`cpu/cpu${cpu}/topology/physical_package_id`] = `${socket}`;
    files[`cpu/cpu${cpu}/topology/core_id`] = `${core}`;
    files[`node/node${socket}/cpu${cpu}/online`] = '1';
    const first = cpu % 8;
    cache(cpu, 0, 1, 32, `${first},${first + 8}`);
    const pair = first - (first % 2);
    cache(cpu, 1, 3, 16384, `${pair}-${pair + 1},${pair + 8}-${pair + 9}`);
  }
  for (const node of [0, 1]) {
    files[`node/node${node}/meminfo`] = `Node ${node} MemTotal:       8388608 kB\nNode ${node} MemFree: 1 kB`;
    files[`node/node${node}/distance`] = node === 0 ? '10 21' : '21 10';
    files[`node/node${node}/hugepages/hugepages-2048kB/nr_hugepages`] = '3';
  }
  return files;
}

test('memory nodes have their processors, caches, memory and distances', (t) => {
  const cpus = Array.from({ length: 16 }, (_, cpu) => cpu);
  const memoryNodes = readMemoryNodes(cpus, treeOf(t, twoSockets()));
  assert.deepEqual(
    memoryNodes.map(({ id, memoryBytes, distances }) => [id, memoryBytes, distances]),
    [
      [0, 8 * 1024 ** 3, [10, 21]],
      [1, 8 * 1024 ** 3, [21, 10]],
    ],
  );
  assert.deepEqual(
    [processorsOf({ memoryNodes }).length, coreCount({ memoryNodes }), socketCount({ memoryNodes })],
    [16, 8, 2],
  );
  const [core] = memoryNodes[1]?.cores ?? [];
  assert.deepEqual([core?.id, core?.socket, core?.threads], [0, 1, [4, 12]]);
  assert.deepEqual(core?.caches, [{ id: 4, bytes: 32 * 1024, type: 'Data', level: 1 }]);
  assert.deepEqual(core?.sharedCaches, [{ id: 4, bytes: 16 * 1024 ** 2, type: 'Unified', level: 3 }]);
  assert.deepEqual(memoryNodes[0]?.caches, [], 'no cache is shared by all cores of a node');
  assert.deepEqual(memoryNodes[0]?.hugePages, [{ pageBytes: 2 * 1024 ** 2, pages: 3 }]);
});

test('processors that are not in use are left out', (t) => {
  const memoryNodes = readMemoryNodes([0, 1], treeOf(t, twoSockets()));
  assert.deepEqual(processorsOf({ memoryNodes }), [0, 1]);
});

test('a machine without memory nodes has one for each socket, and one that says nothing has one in all', (t) => {
  const files = Object.fromEntries(Object.entries(twoSockets()).filter(([path]) => path.startsWith('cpu/')));
  const memoryNodes = readMemoryNodes([0, 4, 8, 12], treeOf(t, files));
  assert.deepEqual(
    memoryNodes.map(({ id, cores }) => [id, cores.map(({ threads }) => threads)]),
    [
      [0, [[0, 8]]],
      [1, [[4, 12]]],
    ],
  );
  const unknown = readMemoryNodes([0, 1], treeOf(t, {}));
  assert.deepEqual([coreCount({ memoryNodes: unknown }), socketCount({ memoryNodes: unknown })], [2, 1]);
});

test('huge pages by size', (t) => {
  const hugePages = readHugePages(
    treeOf(t, {
      'hugepages-2048kB/nr_hugepages': '3',
      'hugepages-1048576kB/nr_hugepages': '0',
      'other/nr_hugepages': '9',
    }),
  );
  assert.deepEqual(hugePages, [
    { pageBytes: 2 ** 30, pages: 0 },
    { pageBytes: 2 ** 21, pages: 3 },
  ]);
  assert.deepEqual(hugePageBytes({ hugePages }).get(2n ** 21n), 3n * 2n ** 21n);
});

test('disks and network devices, without those that are none', (t) => {
  const disks = treeOf(t, {
    'vda/dev': '254:0',
    'vda/size': '2048',
    'vda/queue/scheduler': 'none [mq-deadline] kyber',
    'loop0/dev': '7:0',
    'nvme0c0n1/dev': '259:1',
    'nvme0c0n1/hidden': '1',
  });
  assert.deepEqual(readDisks(disks), [{ name: 'vda', major: 254, minor: 0, bytes: 2 ** 20, scheduler: 'mq-deadline' }]);
  const devices = treeOf(t, {
    'eth0/mtu': '1500',
    'eth0/address': '02:00:00:00:00:01',
    'eth0/speed': '-1',
    'br0/mtu': '1400',
    'lo/mtu': '65536',
    'veth12/mtu': '1500',
  });
  assert.deepEqual(
    readNetworkDevices(devices).map(({ name, speed, mtu }) => [name, speed, mtu]),
    [
      ['br0', 0, 1400],
      ['eth0', -1, 1500],
    ],
  );
});

test('the cloud is told by its firmware', (t) => {
  const provider = (files: Readonly<Record<string, string>>) => readCloud(treeOf(t, files)).provider;
  assert.equal(provider({ sys_vendor: 'Amazon EC2' }), 'AWS');
  assert.equal(provider({ product_name: 'Google Compute Engine' }), 'GCE');
  assert.equal(provider({ sys_vendor: 'Microsoft Corporation' }), 'Azure');
  assert.equal(provider({ sys_vendor: 'QEMU' }), 'Unknown');
  assert.equal(provider({}), 'Unknown');
});

test('vendor and frequency of the processors', () => {
  const text = 'processor\t: 0\nvendor_id\t: GenuineIntel\ncpu MHz\t\t: 2300.123\n';
  assert.deepEqual([parseVendor(text), parseKilohertz(text)], ['GenuineIntel', 2_300_123]);
  assert.deepEqual([parseVendor(''), parseKilohertz('')], ['', 0]);
});

test('this machine has processors and memory', () => {
  const machine = readMachine({ machineId: ['/etc/machine-id'], bootId: ['/proc/sys/kernel/random/boot_id'] });
  assert.ok(processorsOf(machine).length > 0 && coreCount(machine) > 0 && machine.memoryBytes > 0);
  assert.match(machine.bootId, /^[0-9a-f-]{36}$/);
});
