import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Protocol } from '../../wire/gen/cri-runtime-v1.ts';
import { portMappings } from './ports.ts';

test('ports of all containers, each once', () => {
  const mappings = portMappings([
    {
      name: 'a',
      ports: [
        { containerPort: 80 },
        { containerPort: 80 },
        { containerPort: 80, hostPort: 8080, hostIP: '192.0.2.1', protocol: 'TCP' },
        { containerPort: 80, hostPort: 8080, hostIP: '2001:db8::1', protocol: 'TCP' },
        { name: 'dns', containerPort: 53, protocol: 'UDP' },
        { name: 'dns', containerPort: 54, protocol: 'SCTP' },
      ],
    },
    { name: 'b', ports: [{ containerPort: 80, protocol: 'TCP' }] },
    { name: 'c' },
  ]);
  const plain = { protocol: Protocol.TCP, containerPort: 80, hostPort: 0, hostIp: '' };
  assert.deepEqual(mappings, [
    plain,
    { ...plain, hostPort: 8080, hostIp: '192.0.2.1' },
    { ...plain, hostPort: 8080, hostIp: '2001:db8::1' },
    { protocol: Protocol.UDP, containerPort: 53, hostPort: 0, hostIp: '' },
    plain,
  ]);
});
